// Overview: what needs a look first, then the registry in numbers; each number leads to its list.

import {useAnswer} from './client.js';
import {Answered, Command, Fragment, Name, Section, Table, Thing, Time, h, number, pathOf, resourceColumns} from './elements.js';

const kShown = 5;

function Tile({count, more, title, to, alarm}) {
  return h('a', {class: `tile${alarm && count > 0 ? ' tile-alarm' : ''}`, href: to},
    h('span', {class: 'tile-number'}, number(count), more && '+'), h('span', {class: 'tile-title'}, title));
}

function countedBy(items, wordOf) {
  const counts = new Map();
  for (const item of items) counts.set(wordOf(item), (counts.get(wordOf(item)) || 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]);
}

function Conflicts({answer}) {
  return h(Answered, {answer}, ({items}) => {
    if (items.length === 0) return h('p', {class: 'good'}, 'No resource has two managers.');
    const wars = items.filter(each => each.war).length;
    return h(Fragment, null,
      wars > 0 && h('p', {class: 'alarm', role: 'status'},
        `${wars} of them ${wars === 1 ? 'is a running tag war' : 'are running tag wars'}: the sides overwrite each other.`),
      h(Table, {label: 'Conflicts', items: [...items].sort((a, b) => Boolean(b.war) - Boolean(a.war)).slice(0, kShown),
        columns: [
          ['Resource', each => h('a', {href: pathOf.resource(each.resource.id)}, h(Name, {text: each.name}))],
          ['Managers', each => each.sides.map(side => side.service || side.root.namespace || side.root.name).map((text, at) =>
            h(Fragment, null, at > 0 && ' and ', h(Name, {text})))],
          ['Tag war', each => each.war ? `${Math.round(each.war.writesPerMinute * 10) / 10} writes a minute` : 'no'],
        ]}),
      h('p', null, h('a', {href: pathOf.resources({contested: 'true'})}, 'All that are contested')));
  });
}

function Findings({answer}) {
  return h(Answered, {answer}, ({items, muted, nextCursor}) => {
    if (items.length === 0) return h('p', {class: 'good'}, 'Nothing found.', muted > 0 && ` ${number(muted)} muted.`);
    return h(Table, {label: 'Findings by rule', items: countedBy(items, each => each.rule), columns: [
      ['Rule', ([rule]) => h('a', {href: '/findings?' + new URLSearchParams({rule})}, rule)],
      ['Findings', ([, count]) => number(count) + (nextCursor ? '+' : ''), 'numeric'],
    ]});
  });
}

// Hours of the last day, each as high as what was refused for the last time in it.
function DenialsOverTime({items}) {
  const kHours = 24;
  const hour = 3600 * 1000;
  const begin = (Math.floor(Date.now() / hour) - kHours + 1) * hour;
  const bars = new Array(kHours).fill(0);
  for (const each of items) {
    const at = Math.floor((new Date(each.last).getTime() - begin) / hour);
    if (at >= 0 && at < kHours) bars[at] += each.count;
  }
  const most = Math.max(1, ...bars);
  const total = bars.reduce((sum, each) => sum + each, 0);
  return h('svg', {class: 'bars', viewBox: '0 0 240 60', role: 'img',
    'aria-label': `Refusals in the last 24 hours: ${total}`},
    bars.map((count, at) => h('rect', {x: at * 10 + 1, y: 58 - 56 * count / most, width: 8, height: 2 + 56 * count / most},
      h('title', null, `${kHours - 1 - at} hours ago: ${count}`))));
}

function Denials({answer}) {
  return h(Answered, {answer}, ({items}) => items.length === 0 ? h('p', {class: 'good'}, 'Nobody was refused since the server began.') :
    h(Fragment, null, h(DenialsOverTime, {items}),
      h(Table, {label: 'Latest denials', items: items.slice(0, kShown), columns: [
        ['Refused', each => h('a', {href: pathOf.denial(each.id)}, h(Thing, {object: each.object}))],
        ['Resource', each => h(Name, {text: each.resource})],
        ['Rule', each => each.rule],
        ['Last', each => h(Time, {at: each.last})],
      ]}),
      h('p', null, h('a', {href: '/denials'}, 'All denials'))));
}

export function Overview() {
  const overview = useAnswer('/overview', {}, {every: 30});
  const isKnown = Boolean(overview.value);
  const conflicts = useAnswer(isKnown ? '/conflicts' : null, {limit: 100}, {every: 30});
  const findings = useAnswer(isKnown ? '/findings' : null, {limit: 1000}, {every: 30});
  const denials = useAnswer(isKnown ? '/denials' : null, {limit: 1000}, {every: 30});
  return h(Fragment, null,
    h('h1', null, 'Overview'),
    h(Answered, {answer: overview}, ({ownerships, byState, conflicts: contested}) => h(Fragment, null,
      h('div', {class: 'tiles'},
        h(Tile, {count: contested, title: 'conflicts', to: pathOf.resources({contested: 'true'}), alarm: true}),
        h(Tile, {count: ownerships, title: 'ownerships', to: '/resources'}),
        Object.entries(byState).map(([state, count]) =>
          h(Tile, {count, title: state, to: pathOf.resources({state})}))),
      ownerships === 0 && h(Fragment, null,
        h('p', null, 'Nothing is owned yet: the first declaration that is admitted appears here.'),
        h(Command, {what: 'What Truce sees of the cluster:', text: 'truce doctor'})),
      h('div', {class: 'columns'},
        h(Section, {title: 'Conflicts', id: 'conflicts'}, h(Conflicts, {answer: conflicts})),
        h(Section, {title: 'Findings', id: 'findings'}, h(Findings, {answer: findings})),
        h(Section, {title: 'Denials', id: 'denials'}, h(Denials, {answer: denials}))))));
}
