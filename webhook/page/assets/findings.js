// Findings: what the detectors find, and one of them with its proof.

import {session, useAnswer} from './client.js';
import {Advice, Answered, AsOf, Command, Fragment, Name, Table, Thing, Time, h, number, shellWord} from './elements.js';

const kSeverities = ['critical', 'warning', 'info'];
const Severity = ({severity}) => h('span', {class: `state severity-${severity}`}, severity);

function Finding({id}) {
  const answer = useAnswer(`/findings/${encodeURIComponent(id)}`);
  return h(Fragment, null,
    h('p', {class: 'quiet'}, 'Finding'),
    h(Answered, {answer}, each => h(Fragment, null,
      h('h1', null, each.rule, ' ', h(Severity, each)),
      h('p', null, h(Name, {text: each.cause})),
      h('dl', {class: 'facts'}, [
        ['Resource', h(Name, {text: each.resource || each.subject})],
        ['Evidence', h(Name, {text: each.evidence})],
        ['What to do', h(Advice, {text: each.remedy})],
        ['Objects', each.objects.map((object, at) => h(Fragment, null, at > 0 && ', ', h(Thing, {object, beside: each.objects})))],
        ['Concerns', each.namespaces.map((text, at) => h(Fragment, null, at > 0 && ', ', h(Name, {text: text || 'cluster-scoped objects'})))],
        ['Since', h(Time, {at: each.since || each.firstSeen})],
        ['Last seen', h(Time, {at: each.lastSeen})],
        ['The rule finds', h(Name, {text: each.finds})],
        ['Proof', h(Name, {text: each.proof})],
        each.mute && ['Muted', h(Fragment, null, 'until ', h(Time, {at: each.mute.until}), ': ', h(Name, {text: each.mute.reason}))],
      ].filter(Boolean).map(([title, value]) => h('div', null, h('dt', null, title), h('dd', null, value)))),
      !each.mute && h(Command, {what: 'To hide it for a time:', text: `truce findings --mute ${shellWord(each.id)} --for 7d --reason 'known'`}))),
    answer.refusal?.status === 404 && h('p', null, 'It is not found any more, or nobody ever did. ', h('a', {href: '/findings'}, 'All findings')));
}

function List() {
  const rule = new URLSearchParams(location.search).get('rule') || '';
  const answer = useAnswer('/findings', {rule, namespace: session.namespace, limit: 1000}, {every: 30});
  return h(Fragment, null,
    h('h1', null, 'Findings'),
    rule && h('p', null, 'Of rule ', h(Name, {text: rule}), '. ', h('a', {href: '/findings'}, 'All rules')),
    h(Answered, {answer}, ({items, muted, nextCursor, asOf}) => h(Fragment, null,
      h(AsOf, {at: asOf}),
      items.length === 0 ? h('p', {class: 'good'}, 'Nothing found.') :
        h(Table, {label: 'Findings', items: [...items].sort((a, b) => kSeverities.indexOf(a.severity) - kSeverities.indexOf(b.severity)),
          columns: [
            ['Rule', each => h('a', {href: `/findings/${encodeURIComponent(each.id)}`}, each.rule)],
            ['Severity', each => h(Severity, each)],
            ['Resource', each => h(Name, {text: each.resource || each.subject})],
            ['What', each => h(Name, {text: each.cause})],
            ['Since', each => h(Time, {at: each.since || each.firstSeen})],
          ]}),
      nextCursor && h('p', {class: 'quiet'}, 'There are more: choose a rule.'),
      muted > 0 && h('p', {class: 'quiet'}, `${number(muted)} muted: `, h('code', null, 'truce findings --muted')))));
}

export const Findings = ({id}) => id ? h(Finding, {id, key: id}) : h(List);
