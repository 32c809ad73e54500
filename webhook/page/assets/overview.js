// Overview: what needs a look first, then the registry in numbers; each number leads to its list.

import {session, useAnswer, useSession} from './client.js';
import {Answered, AsOf, ChooseNamespace, Command, Fragment, Name, Search, Section, Table, Thing, Time, Words, h, number, pathOf, plural} from './elements.js';

const kShown = 5;
const kShownServices = 20;

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
        `${wars} of them ${plural(wars, 'is a running tag war', 'are running tag wars')}: the sides overwrite each other.`),
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
  return h(Answered, {answer}, ({items, muted, nextCursor, asOf}) => {
    if (items.length === 0) return h(Fragment, null, h(AsOf, {at: asOf}), h('p', {class: 'good'}, 'Nothing found.', muted > 0 && ` ${number(muted)} muted.`));
    return h(Fragment, null, h(AsOf, {at: asOf}), h(Table, {label: 'Findings by rule', items: countedBy(items, each => each.rule), columns: [
      ['Rule', ([rule]) => h('a', {href: '/findings?' + new URLSearchParams({rule})}, rule)],
      ['Findings', ([, count]) => number(count) + (nextCursor ? '+' : ''), 'numeric'],
    ]}));
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
  const hours = [0, 6, 12, 18];
  const timeOf = at => new Date(begin + at * hour).toLocaleTimeString('en', {hour: '2-digit', minute: '2-digit', hour12: false});
  return h('svg', {class: 'bars', viewBox: '0 0 270 76', role: 'img',
    'aria-label': `Refusals in the last 24 hours: ${total}, at most ${most} in an hour`},
    h('path', {class: 'axis', d: 'M24 2H28M24 60H268'}),
    h('text', {x: 22, y: 8, 'text-anchor': 'end'}, number(most)), h('text', {x: 22, y: 62, 'text-anchor': 'end'}, '0'),
    bars.map((count, at) => count > 0 && h('rect', {x: 28 + at * 10, y: 60 - 58 * count / most, width: 8, height: 58 * count / most},
      h('title', null, `${timeOf(at)}: ${count}`))),
    hours.map(at => h('text', {x: 28 + at * 10, y: 73}, timeOf(at))), h('text', {x: 268, y: 73, 'text-anchor': 'end'}, 'now'));
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

// Services by what `enforce` would have refused them; one that is not among them is ready for it.
function RollOut({trial, services}) {
  return h(Answered, {answer: trial}, ({items}) => {
    const found = new Map();
    for (const each of items) {
      const line = found.get(each.service) || {service: each.service, audit: 0, warn: 0, count: 0, rules: new Set()};
      line[each.mode] += 1;
      line.count += each.count;
      line.rules.add(each.rule);
      found.set(each.service, line);
    }
    const lines = [...found.values()].sort((a, b) => b.audit + b.warn - a.audit - a.warn);
    const ready = (services.value?.items || []).filter(each => each.service && !found.has(each.service)).length;
    const all = `${number(ready)}${services.value?.nextCursor ? '+' : ''} ${plural(ready, 'service is', 'services are')}`;
    return h(Fragment, null,
      h('p', {class: lines.length === 0 ? 'good' : ''}, `${all} ready: enforcing would have refused them nothing.`),
      lines.length > 0 && h(Table, {label: 'What enforcing would have refused', items: lines.slice(0, kShownServices), columns: [
        ['Service', each => each.service ? h('a', {href: pathOf.service(each.service)}, h(Name, {text: each.service})) : 'of no service'],
        ['Audited', each => number(each.audit), 'numeric'],
        ['Warned', each => number(each.warn), 'numeric'],
        ['Times', each => number(each.count), 'numeric'],
        ['Rules', each => [...each.rules].join(', ')],
      ]}),
      lines.length > kShownServices && h('p', {class: 'quiet'}, `${number(lines.length - kShownServices)} more ${plural(lines.length - kShownServices, 'service')}.`),
      h(Command, {what: 'Each of them, and what to change before a rule is switched on:', text: 'truce simulate --since 7d'}));
  });
}

function Coverage({answer}) {
  if (answer.refusal?.status === 404) return h('p', {class: 'quiet'}, 'This server follows no cluster.');
  return h(Answered, {answer}, ({kinds, protectedKinds, gaps}) => h(Fragment, null,
    h('p', {class: gaps.length === 0 ? 'good' : ''}, `${number(protectedKinds)} of ${number(kinds)} ${plural(kinds, 'kind is', 'kinds are')} protected.`),
    gaps.length > 0 && h(Table, {label: 'What is not protected', items: gaps.slice(0, kShown), columns: [
      ['What', each => h(Name, {text: each.subject})],
      ['Objects', each => number(each.objects), 'numeric'],
      ['Why', each => h(Name, {text: each.why})],
      ['What to do', each => h(Words, {text: each.remedy})],
    ]}),
    gaps.length > kShown && h(Command, {what: `${number(gaps.length - kShown)} more:`, text: 'truce coverage'})));
}

const kModes = {
  enforce: 'a conflict is refused', warn: 'a conflict is admitted with a warning',
  audit: 'a conflict is admitted and recorded', off: 'conflicts are not looked for',
};
const kPolicies = {Ignore: 'objects are admitted unchecked', Fail: 'objects are refused'};

function View({asOf, failingSince}) {
  if (asOf?.startsWith('1970-')) return h('span', {class: 'alarm'}, 'none yet: no server that watches the cluster has told of it');
  if (asOf) return h('span', {class: 'alarm'}, 'of ', h(Time, {at: asOf}), ': since then no server has watched the cluster');
  if (failingSince) return h('span', {class: 'alarm'}, 'a kind cannot be listed or watched since ', h(Time, {at: failingSince}));
  return 'up to date';
}

// What holds now; of what is not known nothing is said.
function Standing({coverage}) {
  const mode = useAnswer('/refusals', {}, {every: 30}).value?.mode;
  const policy = coverage?.failurePolicy;
  const rows = [
    mode && ['Mode', h(Fragment, null, h('strong', null, mode), `: ${kModes[mode] || 'another one'}`)],
    policy && ['While Truce is away', h(Fragment, null, h('strong', null, policy), `: ${kPolicies[policy] || ''}`)],
    policy === '' && ['Admission', h('span', {class: 'alarm'}, 'no webhook calls Truce: nothing is refused')],
    coverage && ['View of the cluster', h(View, coverage)],
  ].filter(Boolean);
  return rows.length > 0 && h('dl', {class: 'facts standing'}, rows.map(([title, value]) => h('div', null, h('dt', null, title), h('dd', null, value))));
}

// An override suspends refusals: whoever looks must not take silence for peace.
function Overrides({answer}) {
  const items = answer.value?.items || [];
  if (items.length === 0) return null;
  return h('div', {class: 'alarm', role: 'status'},
    h('p', null, `${number(items.length)} ${plural(items.length, 'override holds', 'overrides hold')}: Truce audits there and refuses nothing.`),
    h('ul', null, items.map(each => h('li', null, h(Name, {text: overrideText(each)}), ', until ', h(Time, {at: each.until}), ': ',
      h(Name, {text: each.reason})))));
}

function overrideText({name, object, namespace, group}) {
  if (name) return `name ${name}`;
  if (object) return `object ${object}`;
  return namespace ? `namespace ${namespace}` : `group ${group}`;
}

// Of one namespace, for whoever may see no more: no counts, which are of all.
function OfNamespace() {
  const {namespace} = session;
  const denials = useAnswer('/denials', {namespace, limit: 1000}, {every: 30});
  const findings = useAnswer('/findings', {namespace, limit: 1000}, {every: 30});
  return h(Fragment, null,
    h('h1', null, 'Overview of ', h(Name, {text: namespace})),
    h(Search, {word: ''}),
    h(Standing, {}),
    h('p', null, h('a', {href: pathOf.resources({namespace})}, 'What the namespace owns')),
    denials.refusal?.status === 403 ? h(ChooseNamespace, denials) : h('div', {class: 'columns'},
      h(Section, {title: 'Denials', id: 'denials'}, h(Denials, {answer: denials})),
      h(Section, {title: 'Findings', id: 'findings'}, h(Findings, {answer: findings}))));
}

export function Overview() {
  useSession();
  return session.namespace ? h(OfNamespace, {key: session.namespace}) : h(OfAll);
}

function OfAll() {
  const overview = useAnswer('/overview', {}, {every: 30});
  const isKnown = Boolean(overview.value);
  const conflicts = useAnswer(isKnown ? '/conflicts' : null, {limit: 100}, {every: 30});
  const findings = useAnswer(isKnown ? '/findings' : null, {limit: 1000}, {every: 30});
  const denials = useAnswer(isKnown ? '/denials' : null, {limit: 1000}, {every: 30});
  const trial = useAnswer(isKnown ? '/trial' : null, {}, {every: 60});
  const overrides = useAnswer(isKnown ? '/overrides' : null, {}, {every: 30});
  const services = useAnswer(isKnown ? '/services' : null, {limit: 1000}, {every: 60});
  const coverage = useAnswer(isKnown ? '/coverage' : null, {}, {every: 60});
  return h(Fragment, null,
    h('h1', null, 'Overview'),
    h(Search, {word: ''}),
    h(Overrides, {answer: overrides}),
    h(Standing, {coverage: coverage.value}),
    h(Answered, {answer: overview}, ({ownerships, byState, conflicts: contested}) => h(Fragment, null,
      h('div', {class: 'tiles'},
        h(Tile, {count: contested, title: plural(contested, 'conflict'), to: pathOf.resources({contested: 'true'}), alarm: true}),
        h(Tile, {count: ownerships, title: plural(ownerships, 'ownership'), to: '/resources'}),
        Object.entries(byState).map(([state, count]) =>
          h(Tile, {count, title: state, to: pathOf.resources({state})}))),
      ownerships === 0 && h(Fragment, null,
        h('p', null, 'Nothing is owned yet: the first declaration that is admitted appears here.'),
        h(Command, {what: 'What Truce sees of the cluster:', text: 'truce doctor'})),
      h('div', {class: 'columns'},
        h(Section, {title: 'Conflicts', id: 'conflicts'}, h(Conflicts, {answer: conflicts})),
        h(Section, {title: 'Findings', id: 'findings'}, h(Findings, {answer: findings})),
        h(Section, {title: 'Denials', id: 'denials'}, h(Denials, {answer: denials})),
        h(Section, {title: 'Roll-out', id: 'roll-out'}, h(RollOut, {trial, services})),
        h(Section, {title: 'Coverage', id: 'coverage'}, h(Coverage, {answer: coverage}))))));
}
