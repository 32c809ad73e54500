// The stacks of cdk.out beside this file, as CDK wrote them but for metadata and reports: `npm i aws-cdk-lib@2.276.0 constructs@10 && node app.js`.
const cdk = require('aws-cdk-lib');
const {aws_s3: s3, aws_sqs: sqs, aws_sns: sns, aws_dynamodb: ddb, aws_iam: iam, aws_lambda: lambda, aws_ec2: ec2,
  aws_logs: logs, aws_kms: kms, aws_ecs: ecs, aws_events: events, aws_secretsmanager: secrets} = cdk;

class Data extends cdk.Stack {
  constructor(scope, id, props) {
    super(scope, id, props);
    const key = new kms.Key(this, 'Key', {alias: 'orders'});
    this.bucket = new s3.Bucket(this, 'Bucket', {bucketName: 'prod-orders', encryptionKey: key});
    new s3.Bucket(this, 'Auto');
    new s3.Bucket(this, 'Logs', {bucketName: `logs-${this.account}-${this.region}`});
    new sqs.Queue(this, 'Queue', {queueName: 'jobs.fifo', fifo: true});
    new sns.Topic(this, 'Topic', {topicName: `${cdk.Aws.STACK_NAME}-orders`});
    this.table = new ddb.Table(this, 'Table', {tableName: 'orders', partitionKey: {name: 'id', type: ddb.AttributeType.STRING}});
    new secrets.Secret(this, 'Secret', {secretName: 'orders/db'});
  }
}

class App extends cdk.Stack {
  constructor(scope, id, props) {
    super(scope, id, props);
    const vpc = new ec2.Vpc(this, 'Vpc', {maxAzs: 1, natGateways: 0});
    const auto = new lambda.Function(this, 'Auto', {
      runtime: lambda.Runtime.NODEJS_24_X, handler: 'i.h', code: lambda.Code.fromInline('exports.h=()=>1')});
    new logs.LogGroup(this, 'AutoLogs', {logGroupName: `/aws/lambda/${auto.functionName}`});
    const role = new iam.Role(this, 'Role', {roleName: 'orders-app', assumedBy: new iam.ServicePrincipal('lambda.amazonaws.com')});
    const named = new lambda.Function(this, 'Named', {functionName: 'orders-app', role,
      runtime: lambda.Runtime.NODEJS_24_X, handler: 'i.h', code: lambda.Code.fromInline('exports.h=()=>1')});
    props.data.bucket.grantRead(named);
    new lambda.Alias(this, 'Alias', {aliasName: 'live', version: named.currentVersion});
    new events.Rule(this, 'Rule', {ruleName: 'nightly', schedule: events.Schedule.rate(cdk.Duration.days(1))});
    new ec2.SecurityGroup(this, 'Group', {vpc});
    new ecs.Cluster(this, 'Cluster', {clusterName: 'orders', vpc});
    new iam.User(this, 'User', {userName: 'ci'}).addToPolicy(
      new iam.PolicyStatement({actions: ['s3:Get*'], resources: ['*']}));
  }
}

const app = new cdk.App({outdir: 'cdk.out'});
const env = {account: '123456789012', region: 'eu-west-1'};
const data = new Data(app, 'Data', {env});
new App(app, 'App', {env, data});
new Data(app, 'Elsewhere', {stackName: 'other'});
const stage = new cdk.Stage(app, 'Stage', {env: {account: '210987654321', region: 'us-east-1'}});
const inner = new cdk.NestedStack(new cdk.Stack(stage, 'Outer'), 'Inner');
new s3.Bucket(inner, 'Bucket', {bucketName: 'nested-bucket'});
app.synth();
