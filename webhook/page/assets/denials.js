// Denials: who was refused what and why, how often, and what they did then.

import {session, useAnswer} from './client.js';
import {Answered, Command, Fragment, Name, Section, Table, Thing, Time, h, number, pathOf, resourceColumns, shellWord} from './elements.js';

const Resource = ({resource}) => h('a', {href: pathOf.resource(resource.id)}, h(Name, {text: resource.name || resource.arn || resource.id}));

function Then({then}) {
  if (then.outcome === 'none' || !then.resource) return 'nothing yet';
  const words = {owns: 'owns it now: ', uses: 'uses it by agreement: ', another: 'took another one: '};
  return h(Fragment, null, words[then.outcome], h(Resource, then));
}

function Denial({id}) {
  const answer = useAnswer(`/denials/${encodeURIComponent(id)}`, {}, {every: 15});
  const denial = answer.value;
  const owner = useAnswer(denial ? '/denials' : null, {namespace: denial?.object.namespace, limit: 20});
  return h(Fragment, null,
    h('p', {class: 'quiet'}, 'Denial'),
    h(Answered, {answer}, each => h(Fragment, null,
      h('h1', null, h(Thing, {object: each.object}), ' was refused ', h(Name, {text: each.resource})),
      h('p', null, h(Name, {text: each.cause})),
      h('dl', {class: 'facts'}, [
        ['Rule', each.rule],
        ['User', h(Name, {text: each.user})],
        ['Times', number(each.count)],
        ['First', h(Time, {at: each.first})],
        ['Last', h(Time, {at: each.last})],
        ['Then', h(Then, each)],
      ].map(([title, value]) => h('div', null, h('dt', null, title), h('dd', null, value)))),
      h(Section, {title: 'What was refused', id: 'owner'}, h(Owner, {denial: each})),
      h(Section, {title: 'Latest of the namespace', id: 'others'}, h(Answered, {answer: owner}, ({items}) => h(List, {items}))))),
    answer.refusal?.status === 404 && h('p', null, 'No such denial: a server forgets them when it ends, and the oldest beyond 2,000. ',
      h('a', {href: '/denials'}, 'All denials')));
}

// Who owns what was refused, as far as its name tells: S3 bucket "orders-0".
function Owner({denial}) {
  const name = /"(.+)"/.exec(denial.resource)?.[1] || '';
  const answer = useAnswer(name ? '/resources:lookup' : null, {name});
  if (!name) return h('p', {class: 'quiet'}, 'The rule names no resource.');
  return h(Answered, {answer}, ({resources}) => resources.length === 0 ?
    h('p', {class: 'good'}, 'Nobody owns a resource of that name: the next declaration gets it.') :
    h(Fragment, null, h(Table, {label: 'Owners', items: resources, columns: resourceColumns}),
      h('p', null, 'Its page has the command with which the owner hands it over.'),
      h(Command, {what: 'In a terminal:', text: `truce who-owns ${shellWord(name)}`})));
}

function List({items}) {
  if (items.length === 0) return h('p', {class: 'good'}, 'Nobody was refused.');
  return h(Table, {label: 'Denials', items, columns: [
    ['Object', each => h('a', {href: pathOf.denial(each.id)}, h(Thing, {object: each.object}))],
    ['Resource', each => h(Name, {text: each.resource})],
    ['Rule', each => each.rule],
    ['Why', each => h(Name, {text: each.cause})],
    ['User', each => h(Name, {text: each.user})],
    ['Times', each => number(each.count), 'numeric'],
    ['Last', each => h(Time, {at: each.last})],
    ['Then', each => h(Then, each)],
  ]});
}

function All() {
  const answer = useAnswer('/denials', {namespace: session.namespace, limit: 500}, {every: 15});
  return h(Fragment, null,
    h('h1', null, 'Denials'),
    h('p', {class: 'quiet'}, 'The latest of this server since it began, at most 500.'),
    h(Answered, {answer}, ({items}) => h(List, {items})));
}

export const Denials = ({id}) => id ? h(Denial, {id, key: id}) : h(All);
