// One resource: who owns it and by which names, how it is declared, what was agreed and what became of it,
// and the commands that change that.

import {useAnswer, useSettings} from './client.js';
import {Advice, Code, Command, Contested, Fragment, Name, Section, ServiceName, SignIn, State, Table, Thing, Time, Trouble, h, number, objectText, pathOf,
  seen, shellWord} from './elements.js';
import {Lineage} from './lineage.js';

const {useEffect} = preactHooks;

// "bucket.s3.aws.upbound.io"
const kubectlKind = ({kind, group}) => group ? `${kind.toLowerCase()}.${group}` : kind.toLowerCase();

// "bucket.s3.aws.upbound.io artifacts -n team-a"
function kubectlTarget(object) {
  const place = object.namespace ? ` -n ${shellWord(object.namespace)}` : '';
  return `${shellWord(kubectlKind(object))} ${shellWord(object.name)}${place}`;
}

// As the annotation truce.dev/transfer-to takes it.
const successorOf = ({kind, namespace, name}) => `${kind}/${namespace}/${name}`;

function consoleOf(resource) {
  if (resource.partition !== 'aws' || !resource.arn) return null;
  return `https://console.aws.amazon.com/go/view?arn=${encodeURIComponent(resource.arn)}`;
}

// The applications whose name has the service's in it: the service is the application's name where Argo CD's
// tracking annotation or label said it.
function argoOf(resource, base) {
  if (!base || !resource.service) return null;
  return `${base}/applications?search=${encodeURIComponent(resource.service)}`;
}

const Elsewhere = ({href, text}) => h(Fragment, null, ' ',
  h('a', {class: 'whole', href, target: '_blank', rel: 'noopener noreferrer'}, text));

function Facts({resource}) {
  const argoLink = argoOf(resource, useSettings().argocdURL);
  const consoleLink = consoleOf(resource);
  const rows = [
    ['Owner', h(Thing, {object: resource.root})],
    ['Service', h(Fragment, null, h(ServiceName, {text: resource.service}),
      argoLink && h(Elsewhere, {href: argoLink, text: 'Find in Argo CD'}))],
    ['Contact', h(Name, {text: resource.contact || '–'})],
    ['Cluster', h(Name, {text: resource.root.cluster || '–'})],
    ['Account', h(Name, {text: resource.account || '–'})],
    ['Region', h(Name, {text: resource.region || '–'})],
    ['ARN', resource.arn ? h(Fragment, null, h(Code, {text: resource.arn}),
      consoleLink && h(Elsewhere, {href: consoleLink, text: 'Open in AWS'})) : '–'],
    ['Since', h(Time, {at: resource.since})],
    resource.until && ['Reserved until', h(Time, {at: resource.until})],
    ['Seen in AWS', resource.real ? 'yes' : 'not yet'],
    resource.reason && ['Why', h(Name, {text: resource.reason})],
    resource.successor && ['Offered to', h(Name, {text: resource.successor})],
    ['Id', h(Code, {text: resource.id})],
  ];
  return h('dl', {class: 'facts'}, rows.filter(Boolean).map(([title, value]) => h('div', null, h('dt', null, title), h('dd', null, value))));
}

const kClaimants = 3;  // for which the hand-over is printed

// What each side can do, as commands. Who looks may be either; the page does not guess.
function Remedies({resource, lineage}) {
  const {id, root} = resource;
  // While the root is gone, what lives of its chain speaks for it.
  const speaker = lineage?.speaker || root;
  const refused = resource.denials.map(each => each.object).filter(each => each.namespace && each.namespace !== root.namespace);
  const met = new Set();
  const claimants = refused.filter(each => !met.has(each.namespace) && met.add(each.namespace));
  const shown = claimants.slice(0, kClaimants);
  const to = claimants.length > 0 ? claimants[0].namespace : 'NAMESPACE';
  // Of a record nothing lives that could be told to hand it over: an operator does.
  const isRecord = resource.state === 'orphaned' || resource.state === 'imported';
  const force = isRecord ? ' --force' : '';
  return h(Fragment, null,
    resource.contact || resource.service ? h('p', null, 'The owner is ', h('strong', null, h(Name, {text: resource.service || objectText(root)})),
      resource.contact && h(Fragment, null, ', reached at ', h(Name, {text: resource.contact})), '.') : null,
    resource.state === 'orphaned' && h(Command, {text: `truce release --id ${id} --reason 'gone from AWS'`,
      what: 'Nobody declares it any more. If it is gone from AWS too, the platform team frees the name:'}),
    resource.state === 'imported' && h('p', null, 'It is managed outside the cluster: ', h(Name, {text: resource.reason}),
      '. Ask there, or the platform team.'),
    resource.state === 'reserved' && h('p', null, 'It is admitted, and Truce has not seen it yet: what follows can be done once it is there.'),
    shown.map(object => h(Fragment, null,
      !isRecord && h(Command, {what: h(Fragment, null, 'The owner hands it over to ', h(Thing, {object, beside: [root]}), ':'),
        text: `kubectl${speaker.namespace ? ` -n ${shellWord(speaker.namespace)}` : ''} annotate --overwrite ${shellWord(kubectlKind(speaker))} ` +
          `${shellWord(speaker.name)} truce.dev/transfer-to=${shellWord(successorOf(object))}`}),
      h(Command, {what: isRecord ? h(Fragment, null, 'An operator hands it over to ', h(Thing, {object, beside: [root]}), ':') :
        'The same with a right of Truce’s own:',
      text: `truce transfer ${id} --to ${shellWord(object.namespace)} --successor ${shellWord(successorOf(object))}${force} --reason 'agreed'`}))),
    claimants.length === 0 && h(Command, {what: isRecord ? 'An operator hands it over to an object of another namespace:' :
      'The owner hands it over to another namespace:',
    text: `truce transfer ${id} --to NAMESPACE${isRecord ? ' --successor KIND/NAMESPACE/NAME' : ''}${force} --reason 'agreed'`}),
    resource.state !== 'orphaned' && h(Command, {what: 'The owner lets another namespace use it, and goes on to own it:',
      text: `truce share ${id} --with ${shellWord(to)} --level attach --reason 'agreed'`}),
    speaker.name && !isRecord && h(Command, {what: 'What declares it:', text: `kubectl get ${kubectlTarget(speaker)} -o yaml`}),
    h(Command, {what: 'The same as this page, in a terminal:', text: `truce describe ${id}`}));
}

function Steps({steps}) {
  return h('ol', {class: 'steps'}, steps.map(step => h('li', {class: step.done ? 'done' : ''},
    h('span', {class: 'mark', 'aria-hidden': true}, step.done ? '✓' : '○'), h('span', {class: 'hidden'}, step.done ? 'done: ' : 'to do: '),
    h(Name, {text: step.text}))));
}

function Agreements({resource}) {
  const {shares, transfer, handOver, protection} = resource;
  if (shares.length === 0 && !transfer && !handOver && !protection) return null;
  return h(Section, {title: 'Agreements', id: 'agreements'},
    protection && h('p', null, h('strong', null, 'Protected from deletion'), ' by ', h(Name, {text: protection.by}), ', ',
      h(Time, {at: protection.at}), ': ', h(Name, {text: protection.reason})),
    protection && protection.hindrances.length > 0 && h('ul', null, protection.hindrances.map(each =>
      h('li', {class: 'alarm'}, h(Name, {text: each.what}), ' ', h(Name, {text: each.remedy})))),
    shares.length > 0 && h(Table, {label: 'Shares', items: shares, columns: [
      ['Shared with', each => h(Name, {text: each.to})],
      ['May', each => each.level],
      ['State', each => each.state],
      ['Until', each => each.until ? h(Time, {at: each.until}) : 'it is ended'],
      ['Why', each => h(Name, {text: each.reason})],
    ]}),
    transfer && h(Fragment, null, h('h3', null, `Transfer, ${transfer.state}`),
      h('p', null, 'To ', h(Name, {text: transfer.to}), transfer.successor && h(Fragment, null, ', taken over by ', h(Name, {text: transfer.successor})),
        ': ', h(Name, {text: transfer.reason})), h(Steps, transfer)),
    handOver && h(Fragment, null, h('h3', null, 'Hand-over by annotation'),
      h('p', null, 'To ', h(Name, {text: handOver.successor})), h(Steps, handOver)));
}

function OtherManagers({resource, conflict}) {
  if (!resource.contested) return null;
  return h(Section, {title: 'Other managers', id: 'managers'},
    conflict ? h(Fragment, null,
      conflict.war && h('p', {class: 'alarm'}, `A tag war is running: ${Math.round(conflict.war.writesPerMinute * 10) / 10} writes a minute since `,
        h(Time, {at: conflict.war.since}), '.'),
      h(Table, {label: 'Managers', items: conflict.sides, columns: [
        ['Chain', side => h(Thing, {object: side.root, beside: conflict.sides.map(other => other.root)})],
        ['Service', side => h(Name, {text: side.service || '–'})],
        ['Contact', side => h(Name, {text: side.contact || '–'})],
        ['Owner of record', side => side.incumbent ? 'yes' : 'no'],
        ['Since', side => h(Time, {at: side.since})],
      ]}),
      h('p', null, h(Name, {text: conflict.effect})),
      conflict.steps.length > 0 && h(Fragment, null, h('h3', null, 'To end it, in this order'),
        h('ol', null, conflict.steps.map(step => h('li', null, h(Advice, {text: step}))))))
      : h('p', null, 'A second chain manages it too; which, is told to who may list all ownerships.'),
    h(Command, {what: 'The same in a terminal, with what each side loses:', text: `truce resolve ${resource.id}`}));
}

function History({resource}) {
  if (resource.history.length === 0) return h('p', {class: 'quiet'}, 'No line of the audit log is about it.');
  return h(Fragment, null,
    h('ol', {class: 'time-line'}, resource.history.map(line => h('li', {class: `act act-${line.action}`},
      h('span', {class: 'act-time'}, h(Time, {at: line.at})), ' ', h('strong', null, line.action), ' ',
      h(Name, {text: line.cause}), line.actor && h(Fragment, null, ' – ', h('span', {class: 'quiet'}, h(Name, {text: line.actor})))))),
    !resource.historyComplete && h(Command, {what: 'Older lines:', text: `truce audit --id ${resource.id}`}));
}

function Whole({resource}) {
  const lineage = useAnswer(`/lineage/${encodeURIComponent(resource.id)}`, {}, {every: 60});
  const conflicts = useAnswer(resource.contested ? '/conflicts' : null, {limit: 1000});
  const conflict = conflicts.value?.items.find(each => each.resource.id === resource.id);
  return h(Fragment, null,
    h('p', {class: 'quiet'}, resource.type),
    h('h1', null, h(Name, {text: resource.name || resource.key}), ' ', h(State, {state: resource.state}), resource.contested && h(Contested)),
    h(Facts, {resource}),
    h(Section, {title: 'Lineage', id: 'lineage'}, h(Lineage, {resource, lineage: lineage.value})),
    h(OtherManagers, {resource, conflict}),
    h(Section, {title: 'What to do', id: 'remedies'}, h(Remedies, {resource, lineage: lineage.value})),
    h(Agreements, {resource}),
    h(Section, {title: 'Refused', id: 'refused', count: resource.denials.length},
      resource.denials.length === 0 ? h('p', {class: 'quiet'}, 'Nobody was refused it lately.') :
        h(Table, {label: 'Refused', items: resource.denials, columns: [
          ['Object', each => h('a', {href: pathOf.denial(each.id)}, h(Thing, {object: each.object, beside: [resource.root]}))],
          ['User', each => h(Name, {text: each.user})],
          ['Why', each => h(Name, {text: each.cause})],
          ['Times', each => number(each.count), 'numeric'],
          ['Last', each => h(Time, {at: each.last})],
        ]})),
    h(Section, {title: 'Names', id: 'names', count: resource.names.length},
      h(Table, {label: 'Names', items: resource.names, columns: [
        ['Name', each => h(Code, {text: each.name})],
        ['Known by', each => each.observed ? `${each.sort}, from a status` : each.sort],
        ['Since', each => h(Time, {at: each.since})],
      ]}),
      resource.formerIds.length > 0 && h('p', null, 'It was known apart as ',
        resource.formerIds.map((id, at) => h(Fragment, null, at > 0 && ', ', h(Code, {text: id}))), ' before it turned out to be one.')),
    h(Section, {title: 'History', id: 'history'}, h(History, {resource})));
}

// What may be said without a right to read it: as much as the setting `disclosure` lets a refusal say.
function Redacted({resource}) {
  const {root} = resource;
  const what = `${resource.type} "${resource.name}"`;
  const command = root?.name && root.namespace && `kubectl -n ${shellWord(root.namespace)} annotate --overwrite ` +
    `${shellWord(kubectlKind(root))} ${shellWord(root.name)} truce.dev/transfer-to=KIND/NAMESPACE/NAME`;
  return h(Fragment, null,
    h('p', {class: 'quiet'}, resource.type),
    h('h1', null, h(Name, {text: resource.name}), ' ', h('span', {class: 'state'}, 'taken')),
    h('p', null, 'Somebody owns it already', resource.service && h(Fragment, null, ': service ', h(Name, {text: resource.service})),
      resource.contact && h(Fragment, null, ', reached at ', h(Name, {text: resource.contact})),
      root?.name && h(Fragment, null, ', declared by ', h(Thing, {object: root})),
      '. Choose another name, or ask your platform team.'),
    (resource.contact || resource.service) && h(Command, {
      what: h(Fragment, null, 'To ask ', h(Name, {text: resource.contact || resource.service}), ' for it, fill in this text:'),
      text: seen(`Hello, you own ${what}${root?.name ? ` (${objectText(root)})` : ''}, which our KIND NAMESPACE/NAME declares too. ` +
        'May we use it, or take it over?' + (command ? ` You hand it over by: ${command}` : '')), label: 'the text'}),
    h('p', {class: 'quiet'}, 'Your token may not read ownerships in the owner’s namespace.'));
}

function Ended({line}) {
  const name = /name=([^|]*)$/.exec(line.key)?.[1] || '';
  return h(Fragment, null,
    h('p', {class: 'quiet'}, line.key.split('|')[0]),
    h('h1', null, h(Name, {text: name || line.key}), ' ', h('span', {class: 'state'}, 'ended')),
    h('p', null, 'This ownership ended ', h(Time, {at: line.at}), ', ', h('strong', null, line.action), ': ', h(Name, {text: line.cause || 'no cause was given'}), '.'),
    h('dl', {class: 'facts'}, [
      ['Was of', h(Thing, {object: line.root})],
      ['At', line.at],
      ['By', h(Name, {text: line.actor || '–'})],
      ['Key', h(Code, {text: line.key})],
    ].map(([title, value]) => h('div', null, h('dt', null, title), h('dd', null, value)))),
    name && h('p', null, h('a', {href: '/resources?' + new URLSearchParams({q: name})}, 'Who owns the name now?')));
}

function Unknown({id}) {
  const ending = useAnswer(/^[a-z2-7]{13}$/.test(id) ? `/endings/${id}` : null);
  if (ending.loading) return h('p', {class: 'quiet', role: 'status'}, 'Loading …');
  if (ending.value) return h(Ended, {line: ending.value});
  return h(Fragment, null,
    h('h1', null, 'No such resource'),
    h('p', null, 'This registry has no resource with the id ', h(Code, {text: id}),
      '. The ownership may have ended, or the link is from the Truce of another cluster: open it there.'),
    h('p', null, h('a', {href: '/resources'}, 'Search by name')));
}

export function Resource({id}) {
  const answer = useAnswer(`/resources/${encodeURIComponent(id)}`, {}, {every: 30});
  const resource = answer.value;
  useEffect(() => {
    // One that merged is known by another id now.
    if (resource?.id && resource.id !== id) history.replaceState(null, '', pathOf.resource(resource.id));
  }, [resource?.id]);
  if (answer.loading) return h('p', {class: 'quiet', role: 'status'}, 'Loading …');
  if (answer.refusal?.status === 401) {
    return h(Fragment, null,
      h('h1', null, 'This name is taken'),
      h('p', null, 'A link like this stands in a refusal: somebody owns the resource already. Choose another name, ask your platform team, ',
        'or sign in to see who owns it.'),
      h(SignIn, answer),
      h(Command, {what: 'In a terminal:', text: `truce describe ${shellWord(id)}`}));
  }
  if (answer.refusal?.status === 404) return h(Unknown, {id});
  return h(Fragment, null, h(Trouble, answer),
    resource && (resource.redacted ? h(Redacted, {resource}) : h(Whole, {resource})));
}
