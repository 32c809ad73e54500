// Resources: search by any name, filters in the address, and a list that is loaded as it is looked at:
// only the rows in sight exist, so a hundred thousand cost what twenty do.

import {Refusal, ask, session, useAnswer, useSession} from './client.js';
import {Contested, Fragment, Name, Search, ServiceName, State, Table, Thing, Time, Trouble, go, h, number, pathOf, plural,
  resourceColumns, useNarrow} from './elements.js';

const {useEffect, useLayoutEffect, useRef, useState} = preactHooks;

const kPage = 500;
const kAhead = 100;  // rows before the end at which the next page is asked for
const kRow = 40;  // pixels; of a narrow window three lines, as in style.css
const kNarrowRow = 84;
const kLike = 20;  // names like a word that are shown at once
const kMargin = 10;  // rows above and below what is in sight
const kFilters = ['type', 'service', 'state', 'account', 'region', 'namespace', 'name', 'contested', 'shared', 'sort'];

function filterOf(search) {
  const given = new URLSearchParams(search);
  const filter = session.namespace ? {namespace: session.namespace} : {};
  for (const name of kFilters) {
    if (given.get(name)) filter[name] = given.get(name);
  }
  return filter;
}

// The rows so far: {items, done, refusal, retryAt, more}. `more` asks for the next page.
function useRows(filter) {
  const turn = useSession();
  const question = JSON.stringify(filter);
  const [state, setState] = useState({items: [], done: false, refusal: null, retryAt: 0});
  const work = useRef(null);
  useEffect(() => {
    const stop = new AbortController();
    const own = {cursor: '', busy: false, done: false, tries: 0, timer: 0};
    own.more = async () => {
      if (own.busy || own.done || stop.signal.aborted) return;
      own.busy = true;
      clearTimeout(own.timer);
      try {
        const page = await ask('/resources', {...filter, limit: kPage, cursor: own.cursor}, stop.signal);
        own.cursor = page.nextCursor || '';
        own.done = own.cursor === '';
        own.tries = 0;
        setState(present => ({items: present.items.concat(page.items), done: own.done, refusal: null, retryAt: 0}));
        // A page may be empty while the list goes on.
        if (page.items.length === 0 && !own.done) own.timer = setTimeout(own.more, 0);
      } catch (refusal) {
        if (stop.signal.aborted) return;
        if (!(refusal instanceof Refusal)) throw refusal;
        const wait = Math.min(30, Math.max(refusal.wait, 2 ** own.tries++));
        if (refusal.passes) own.timer = setTimeout(own.more, wait * 1000);
        setState(present => ({...present, refusal, retryAt: refusal.passes ? Date.now() + wait * 1000 : 0}));
      } finally {
        own.busy = false;
      }
    };
    work.current = own;
    setState({items: [], done: false, refusal: null, retryAt: 0});
    own.more();
    return () => {
      stop.abort();
      clearTimeout(own.timer);
    };
  }, [question, turn]);
  return {...state, more: () => work.current?.more()};
}

const kColumns = ['Resource', 'Type', 'State', 'Service', 'Owner', 'Account', 'Region'];

function Row({item, at, top, height}) {
  const cells = [
    h('a', {href: pathOf.resource(item.id)}, h(Name, {text: item.name || item.key})),
    item.type,
    h(Fragment, null, h(State, {state: item.state}), item.contested && h(Contested),
      item.until && h(Fragment, null, 'ends ', h(Time, {at: item.until}))),
    h(ServiceName, {text: item.service}),
    h(Thing, {object: item.root}),
    h(Name, {text: item.account || '–'}),
    h(Name, {text: item.region || '–'}),
  ];
  return h('div', {role: 'row', class: 'row', 'aria-rowindex': at + 2, style: {top: `${top}px`, height: `${height}px`}},
    cells.map((cell, column) => h('div', {role: 'cell', class: `cell cell-${column}`}, cell)));
}

function Rows({rows}) {
  const frame = useRef(null);
  const height = useNarrow() ? kNarrowRow : kRow;
  const [sight, setSight] = useState({first: 0, count: 30});
  const [gutter, setGutter] = useState(0);  // pixels that the scroll bar takes from the rows
  const look = () => {
    const box = frame.current;
    setGutter(box.offsetWidth - box.clientWidth);
    const first = Math.max(0, Math.floor(box.scrollTop / height) - kMargin);
    const count = Math.ceil(box.clientHeight / height) + 2 * kMargin;
    setSight(present => present.first === first && present.count === count ? present : {first, count});
    if (first + count + kAhead > rows.items.length) rows.more();
  };
  useLayoutEffect(look, [rows.items.length, height]);
  useEffect(() => {
    window.addEventListener('resize', look);
    return () => window.removeEventListener('resize', look);
  });
  const shown = rows.items.slice(sight.first, sight.first + sight.count);
  return h('div', {class: 'rows', role: 'table', 'aria-label': 'Resources', 'aria-rowcount': rows.done ? rows.items.length + 1 : -1},
    h('div', {role: 'rowgroup', class: 'rows-head', style: {paddingRight: `${gutter}px`}}, h('div', {role: 'row', class: 'row', 'aria-rowindex': 1},
      kColumns.map((title, column) => h('div', {role: 'columnheader', class: `cell cell-${column}`}, title)))),
    h('div', {role: 'rowgroup', class: 'rows-body', ref: frame, tabIndex: 0, onScroll: look, 'aria-label': 'Rows'},
      h('div', {class: 'rows-space', role: 'presentation', style: {height: `${rows.items.length * height}px`}},
        shown.map((item, at) => h(Row, {key: item.id, item, at: sight.first + at, top: (sight.first + at) * height, height})))));
}

function Choice({name, title, filter, options}) {
  const change = event => set(filter, name, event.target.value);
  return h('label', null, title, h('select', {name, onChange: change, value: filter[name] || ''},
    h('option', {value: ''}, 'any'), options.map(([value, text]) => h('option', {value, selected: filter[name] === value}, text))));
}

// Takes effect when the field is left, or with Enter.
function Field({name, title, filter, list}) {
  const change = event => set(filter, name, event.target.value.trim());
  return h('label', null, title, h('input', {key: filter[name] || '', name, list, defaultValue: filter[name] || '',
    autoComplete: 'off', spellcheck: false, onChange: change}));
}

function set(filter, name, value) {
  const next = {...filter, [name]: value};
  if (!value) delete next[name];
  go(pathOf.resources(next));
}

// What a word of people means: by every name that a resource has, by object, by service; then names
// that begin so, or that hold it within the chosen namespace.
function Found({word}) {
  const found = useAnswer('/resources:lookup', {resource: word});
  const service = useAnswer(`/services/${encodeURIComponent(word)}`);
  const place = session.namespace ? {namespace: session.namespace} : {};
  const name = word.includes('*') ? word : session.namespace ? `*${word}*` : `${word}*`;
  const like = useAnswer('/resources', {name, ...place, limit: kLike});
  if (found.loading || service.loading || like.loading) return h('p', {class: 'quiet', role: 'status'}, 'Searching …');
  const resources = found.value?.resources || [];
  const others = (like.value?.items || []).filter(each => !resources.some(one => one.id === each.id));
  const isNothing = found.value && resources.length === 0 && !service.value;
  return h('section', {'aria-labelledby': 'found'},
    h('h2', {id: 'found'}, 'Found for ', h(Name, {text: word})),
    service.value && h('p', null, 'Service ', h('a', {href: pathOf.service(word)}, h(Name, {text: word})),
      ` with ${number(service.value.ownerships)} ${plural(service.value.ownerships, 'ownership')}.`),
    resources.length > 0 && h(Table, {label: 'What was found', items: resources, columns: resourceColumns}),
    isNothing && h('p', {class: 'good'}, 'Nobody owns a resource of that name.'),
    found.refusal && !(service.value && found.refusal.status < 429) && h(Trouble, found),
    like.refusal && like.refusal.status === 400 && !found.refusal && h(Trouble, like),
    (others.length > 0 || like.value?.nextCursor) && h(Fragment, null,
      h('h3', null, 'Names like it'),
      others.length > 0 && h(Table, {label: 'Names like it', items: others, columns: resourceColumns}),
      like.value.nextCursor && h('p', null, h('a', {href: pathOf.resources({name})}, 'All of them'))));
}

export function Resources() {
  const given = new URLSearchParams(location.search);
  const word = (given.get('q') || '').trim();
  const filter = filterOf(location.search);
  const rows = useRows(filter);
  const types = useAnswer(rows.items.length > 0 ? '/types' : null);
  const isUnknown = rows.refusal && rows.refusal.status === 401;
  return h(Fragment, null,
    h('h1', null, 'Resources'),
    h(Search, {word}),
    word && !isUnknown ? h(Found, {word, key: word}) : h(Fragment, null,
      h('fieldset', {class: 'filters'}, h('legend', null, 'Filters'),
        h(Field, {name: 'type', title: 'Type', filter, list: 'types'}),
        h('datalist', {id: 'types'}, (types.value?.items || []).map(each => h('option', {value: each.type}))),
        h(Field, {name: 'service', title: 'Service', filter}),
        h(Choice, {name: 'state', title: 'State', filter,
          options: ['reserved', 'held', 'orphaned', 'imported'].map(each => [each, each])}),
        h(Field, {name: 'account', title: 'Account', filter}),
        h(Field, {name: 'region', title: 'Region', filter}),
        h(Field, {name: 'namespace', title: 'Namespace', filter}),
        h(Choice, {name: 'contested', title: 'Contested', filter, options: [['true', 'yes'], ['false', 'no']]}),
        h(Choice, {name: 'shared', title: 'Shared', filter, options: [['true', 'yes'], ['false', 'no']]}),
        h(Choice, {name: 'sort', title: 'Order', filter, options: [['name', 'name'], ['type', 'type'], ['service', 'service'],
          ['account', 'account'], ['region', 'region'], ['since', 'oldest first'], ['-since', 'newest first']]}),
        location.search && h('a', {href: '/resources'}, 'Clear')),
      h(Trouble, rows),
      h('p', {class: 'quiet', role: 'status'}, rows.refusal && rows.items.length === 0 ? '' :
        rows.items.length === 0 ? (rows.done ? 'No ownership fits.' : 'Loading …') :
        `${number(rows.items.length)} ${plural(rows.items.length, 'resource')}${rows.done ? '' : ' so far; more as you scroll'}`),
      rows.items.length > 0 && h(Rows, {rows})));
}
