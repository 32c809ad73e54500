// Services, and one of them: what it owns, uses and observes, and what needs a look.

import {Refusal, ask, useAnswer} from './client.js';
import {Answered, Fragment, Name, Section, Table, Thing, Time, Trouble, h, number, pathOf, plural, resourceColumns} from './elements.js';

const {useState} = preactHooks;

// How many of `items` each service has a part in.
function countsOf(items, servicesOf) {
  const counts = new Map();
  for (const item of items || []) {
    for (const service of new Set(servicesOf(item))) counts.set(service, (counts.get(service) || 0) + 1);
  }
  return counts;
}

export function Services() {
  const first = useAnswer('/services', {limit: 1000});
  const [more, setMore] = useState({items: [], cursor: null, refusal: null});
  const cursor = more.cursor === null ? first.value?.nextCursor : more.cursor;
  const conflicts = useAnswer(first.value ? '/conflicts' : null, {limit: 1000}, {every: 60});
  const findings = useAnswer(first.value ? '/findings' : null, {limit: 1000}, {every: 60});
  const contested = countsOf(conflicts.value?.items, each => each.sides.map(side => side.service));
  const found = countsOf(findings.value?.items, each => each.services);
  const load = async () => {
    try {
      const page = await ask('/services', {limit: 1000, cursor});
      setMore({items: more.items.concat(page.items), cursor: page.nextCursor || '', refusal: null});
    } catch (refusal) {
      if (!(refusal instanceof Refusal)) throw refusal;
      setMore({...more, refusal});
    }
  };
  return h(Fragment, null,
    h('h1', null, 'Services'),
    h(Answered, {answer: first}, ({items}) => items.length === 0 ? h('p', null, 'No service owns anything yet.') : h(Fragment, null,
      h(Table, {label: 'Services', items: items.concat(more.items), columns: [
        ['Service', each => each.service === '' ? 'of no service' : h('a', {href: pathOf.service(each.service)}, h(Name, {text: each.service}))],
        ['Ownerships', each => each.service === '' ? number(each.ownerships) :
          h('a', {href: pathOf.resources({service: each.service})}, number(each.ownerships)), 'numeric'],
        ['Conflicts', each => contested.has(each.service) ? h('strong', {class: 'alarm'}, number(contested.get(each.service))) : '–', 'numeric'],
        ['Findings', each => found.has(each.service) ? number(found.get(each.service)) : '–', 'numeric'],
      ]}),
      h(Trouble, {refusal: more.refusal, retryAt: 0}),
      cursor && h('button', {type: 'button', onClick: load}, 'More'))));
}

function Counts({counts, service, name, title}) {
  const items = Object.entries(counts).sort((a, b) => b[1] - a[1]);
  return h(Table, {label: title, items, columns: [
    [title, ([word]) => h('a', {href: pathOf.resources({service, [name]: word})}, h(Name, {text: word}))],
    ['Ownerships', ([, count]) => number(count), 'numeric'],
  ]});
}

const kNone = {
  contested: 'Nothing that it manages has a second manager.',
  findings: 'Nothing found.',
};

function List({title, id, items, columns}) {
  if (items.length === 0 && !kNone[id]) return null;
  return h(Section, {title, id, count: items.length},
    items.length === 0 ? h('p', {class: 'good'}, kNone[id]) : h(Table, {label: title, items, columns}));
}

export function Service({name}) {
  const answer = useAnswer(`/services/${encodeURIComponent(name)}`, {}, {every: 30});
  const trial = useAnswer(answer.value ? '/trial' : null, {}, {every: 60});
  const tried = (trial.value?.items || []).filter(each => each.service === name);
  if (answer.refusal?.status === 404) {
    return h(Fragment, null, h('h1', null, 'No such service'),
      h('p', null, 'No service ', h(Name, {text: name}), ' owns, shares or observes anything.'),
      h('p', null, h('a', {href: '/services'}, 'All services')));
  }
  return h(Fragment, null,
    h('p', {class: 'quiet'}, 'Service'),
    h('h1', null, h(Name, {text: name})),
    h(Answered, {answer}, service => h(Fragment, null,
      h('p', null, h('a', {href: pathOf.resources({service: name})}, `${number(service.ownerships)} ${plural(service.ownerships, 'ownership')}`),
        !service.complete && ' at least',
        service.contacts.length > 0 && h(Fragment, null, ', reached at ',
          service.contacts.map((text, at) => h(Fragment, null, at > 0 && ', ', h(Name, {text}))))),
      h(List, {title: 'Contested', id: 'contested', items: service.contested, columns: resourceColumns}),
      h(List, {title: 'Findings', id: 'findings', items: service.findings, columns: [
        ['Rule', each => h('a', {href: `/findings/${each.id}`}, each.rule)],
        ['Severity', each => each.severity],
        ['What', each => h(Name, {text: each.cause})],
      ]}),
      h('div', {class: 'columns'},
        h(Section, {title: 'By state', id: 'by-state'}, h(Counts, {counts: service.byState, service: name, name: 'state', title: 'State'})),
        h(Section, {title: 'By type', id: 'by-type'}, h(Counts, {counts: service.byType, service: name, name: 'type', title: 'Type'}))),
      h(List, {title: 'What enforcing would have refused', id: 'trial', items: tried, columns: [
        ['Object', each => h(Thing, {object: each})],
        ['Resource', each => h(Name, {text: each.resource})],
        ['Rule', each => each.rule],
        ['Now', each => each.mode],
        ['Why', each => h(Name, {text: each.text})],
        ['Last', each => h(Time, {at: each.last})],
      ]}),
      h(List, {title: 'Offered to others', id: 'offered', items: service.offered, columns: resourceColumns}),
      h(List, {title: 'Transfers that nobody accepted yet', id: 'pending', items: service.pendingOffers, columns: [
        ['Resource', each => h('a', {href: pathOf.resource(each.resource.id)}, h(Name, {text: each.resource.name}))],
        ['From', each => h(Thing, {object: each.owner})],
        ['To', each => h(Name, {text: each.to})],
        ['Since', each => h(Time, {at: each.at})],
      ]}),
      h(List, {title: 'Used by agreement', id: 'used', items: service.used, columns: [
        ['Resource', each => h('a', {href: pathOf.resource(each.resource.id)}, h(Name, {text: each.resource.name}))],
        ['Owner', each => h(Thing, {object: each.owner})],
        ['May', each => each.level],
        ['Until', each => each.until ? h(Time, {at: each.until}) : 'it is ended'],
      ]}),
      h(List, {title: 'Observed', id: 'observed', items: service.observed, columns: [
        ['Resource', each => h('a', {href: pathOf.resource(each.resource.id)}, h(Name, {text: each.resource.name}))],
        ['Owner', each => h(Thing, {object: each.resource.root})],
        ['By', each => h(Thing, {object: each.observer})],
      ]}))));
}
