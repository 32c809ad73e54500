// What the views are made of. Whatever comes from the registry becomes text nodes and attributes only.

import {session} from './client.js';

export const {h, Fragment} = preact;
const {useEffect, useRef, useState} = preactHooks;

export const pathOf = {
  resource: id => `/r/${encodeURIComponent(id)}`,
  service: name => `/services/${encodeURIComponent(name)}`,
  resources: filter => '/resources?' + new URLSearchParams(filter).toString(),
  denial: id => `/denials/${encodeURIComponent(id)}`,
};

// Characters that nobody sees, or that turn what stands behind them.
const kUnseen = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

// The text with their numbers instead: "\u202egpj.exe" must not look like "exe.jpg".
export const seen = text => String(text ?? '').replace(kUnseen,
  each => `<U+${each.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}>`);

// A text of users. One that runs from right to left stays by itself.
export const Name = ({text}) => h('bdi', null, seen(text));
export const Code = ({text}) => h('code', null, h('bdi', null, seen(text)));

// "come again" → "Come again."
const sentence = text => text && text[0].toUpperCase() + text.slice(1) + (/[.!?…]$/.test(text) ? '' : '.');

export function go(path) {
  history.pushState(null, '', path);
  window.dispatchEvent(new PopStateEvent('popstate'));
}

// Whether the window is as narrow as style.css means it.
export function useNarrow() {
  const [query] = useState(() => window.matchMedia('(max-width: 52rem)'));
  const [narrow, setNarrow] = useState(query.matches);
  useEffect(() => {
    const listener = () => setNarrow(query.matches);
    query.addEventListener('change', listener);
    return () => query.removeEventListener('change', listener);
  }, []);
  return narrow;
}

const kDay = 24 * 3600 * 1000;

// "3 days ago", with the exact time at hand.
export function Time({at}) {
  if (!at) return '–';
  const when = new Date(at);
  if (Number.isNaN(when.getTime())) return h(Name, {text: at});
  const seconds = (Date.now() - when.getTime()) / 1000;
  const ahead = seconds < -60;
  const size = Math.abs(seconds);
  const [number, unit] = size < 60 ? [0, ''] : size < 3600 ? [size / 60, 'minute'] :
    size < 86400 ? [size / 3600, 'hour'] : [size / 86400, 'day'];
  const count = Math.floor(number);
  const words = unit === '' ? 'just now' : `${count} ${plural(count, unit)}`;
  const text = unit === '' ? words : ahead ? `in ${words}` : `${words} ago`;
  return h('time', {dateTime: at, title: at.replace('T', ' ')}, size > 30 * kDay / 1000 ? at.slice(0, 10) : text);
}

// That what the cluster shows is old; nothing where it is not.
export const AsOf = ({at}) => at ? h('p', {class: 'alarm', role: 'status'}, at.startsWith('1970-')
  ? 'No server that watches the cluster has told of it yet.'
  : h(Fragment, null, 'Of ', h(Time, {at}), ': since then no server has watched the cluster.')) : null;

const kStates = {
  reserved: 'admitted, not created yet',
  held: 'declared and seen in the cluster',
  orphaned: 'nobody declares it any more; it may still exist in AWS',
  imported: 'owned outside the cluster',
  free: 'nobody owns it',
};
export const State = ({state}) => h('span', {class: `state state-${state}`, title: kStates[state] || ''}, state);
export const Contested = () =>
  h('span', {class: 'state state-contested', title: 'two or more chains manage it'}, 'contested');

// A service's view counts all namespaces: who sees one only is not led there.
export const ServiceName = ({text}) => !text ? '–' : session.namespace ? h(Name, {text}) :
  h('a', {href: pathOf.service(text)}, h(Name, {text}));

// `beside`: the objects shown with it; a group stands where it alone tells two of them apart.
export function objectText(object, beside = []) {
  if (!object) return '';
  const place = object.namespace ? `${object.namespace}/${object.name}` : object.name;
  const isAlike = beside.some(other => other && other.group !== object.group &&
    ['kind', 'namespace', 'name'].every(part => other[part] === object[part]));
  return seen(`${object.kind}${isAlike && object.group ? `.${object.group}` : ''} ${place}`);
}
export const Thing = ({object, beside}) => h(Name, {text: objectText(object, beside)});

export function Copy({text, label}) {
  const [said, setSaid] = useState('');
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setSaid('Copied');
    } catch {
      setSaid('Select it and copy');
    }
    setTimeout(() => setSaid(''), 2500);
  };
  return h('button', {type: 'button', class: 'copy', onClick: copy, 'aria-label': `Copy ${label}`},
    h('span', {'aria-live': 'polite'}, said || 'Copy'));
}

// Commands one beside the other would wrap within a word; each has its line, and wraps between words ("--" is one).
export function Command({text, what, label = 'the command'}) {
  return h('div', {class: 'command'},
    what && h('p', null, what),
    h('div', {class: 'command-line'},
      h('pre', {tabIndex: 0, role: 'group', 'aria-label': `Command: ${text}`}, h('bdi', null, text.split(/(\s+)/).map(part =>
        /\S/.test(part) ? h('span', {class: 'word'}, part) : part))),
      h(Copy, {text, label})));
}

const kPrograms = /^(?:truce|kubectl|helm|terraform|aws) /;

// A text of the server's, its parts in backquotes as code: for a cell or a line.
export const Words = ({text}) => h(Fragment, null, String(text ?? '').split('`').map((part, at) =>
  at % 2 === 1 ? h(Code, {text: part}) : h(Name, {text: part})));

// The same as a whole: each command has a box of its own, the words between them are paragraphs.
export function Advice({text}) {
  const blocks = [];
  let words = [];
  const end = () => {
    if (words.some(each => typeof each !== 'string' || /\w/.test(each))) {
      blocks.push(h('p', null, words.map(each => typeof each === 'string' ? h(Name, {text: each}) : each)));
    }
    words = [];
  };
  String(text ?? '').split('`').forEach((part, at) => {
    if (at % 2 === 0) words.push(words.length === 0 ? part.replace(/^[.,;]?\s+/, '') : part);
    else if (kPrograms.test(part)) {
      end();
      blocks.push(h(Command, {text: seen(part)}));
    } else words.push(h(Code, {text: part}));
  });
  end();
  return h(Fragment, null, blocks);
}

// A word for a shell; nothing that could mean something to it or hide from the reader is left bare.
export function shellWord(text) {
  if (/^[A-Za-z0-9_./:@=+,-]+$/.test(text)) return text;
  if (seen(text) !== text) return 'NAME';
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function useSecondsUntil(time) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (!time) return undefined;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 500);
    return () => clearInterval(timer);
  }, [time]);
  return Math.max(0, Math.ceil((time - now) / 1000));
}

const kReasons = {
  0: 'No answer',
  429: 'Too many requests',
  503: 'Not ready',
};

// Why there is no answer (now), and that it is asked again.
export function Trouble({refusal, retryAt}) {
  const seconds = useSecondsUntil(retryAt);
  if (!refusal) return null;
  if (refusal.status === 401) return h(SignIn, {refusal});
  if (refusal.status === 403) return h(ChooseNamespace, {refusal});
  const title = kReasons[refusal.status] || refusal.title || 'That did not work';
  return h('div', {class: 'trouble', role: refusal.passes ? 'status' : 'alert'},
    h('strong', null, sentence(title)), ' ',
    h(Name, {text: sentence(refusal.detail || refusal.title)}), ' ',
    refusal.remedy && h(Name, {text: sentence(refusal.remedy)}), ' ',
    retryAt > 0 && h('span', {class: 'quiet'}, seconds > 0 ? `Trying again in ${seconds} s.` : 'Trying again …'));
}

export function SignIn({refusal}) {
  const field = useRef(null);
  const submit = event => {
    event.preventDefault();
    const text = field.current.value.trim();
    if (text) session.signIn(text);
  };
  return h('section', {class: 'sign-in', 'aria-labelledby': 'sign-in-title'},
    h('h2', {id: 'sign-in-title'}, session.hasToken ? 'Your token is not accepted any more' : 'Sign in to see more'),
    session.hasToken && h('p', {role: 'alert'},
      'It may have ended, or is not made for the audience truce. What you looked at comes back when you sign in again.'),
    refusal?.detail && session.hasToken && h('p', {class: 'quiet'}, h(Name, {text: refusal.detail})),
    h('form', {onSubmit: submit},
      h('label', {for: 'token'}, 'Token'),
      h('input', {id: 'token', type: 'password', autoComplete: 'off', spellcheck: false, ref: field, required: true}),
      h('button', {type: 'submit'}, 'Sign in')),
    h('p', {class: 'quiet'}, 'Kept in this tab until it closes, and sent to this server only.'),
    h(Command, {what: 'To make one:', text: 'kubectl create token NAME -n NAMESPACE --audience truce'}));
}

// Who may not see all may see a namespace's: resources, denials, findings.
export function ChooseNamespace({refusal}) {
  const choose = event => {
    event.preventDefault();
    session.choose(new FormData(event.target).get('namespace'));
    if (/^\/(matrix|services)/.test(location.pathname)) go('/');
  };
  return h('section', {class: 'sign-in', 'aria-labelledby': 'choose-title'},
    h('h2', {id: 'choose-title'}, session.namespace ? 'Choose another namespace' : 'Choose a namespace'),
    h('p', {role: 'status'}, session.namespace ? h(Fragment, null, 'Your token may not see this in namespace ', h(Name, {text: session.namespace}), '.') :
      'Your token may not see this in all namespaces. Perhaps it may in one.'),
    refusal.detail && h('p', {class: 'quiet'}, h(Name, {text: sentence(refusal.detail)})),
    h('form', {onSubmit: choose},
      h('label', {for: 'namespace'}, 'Namespace'),
      h('input', {id: 'namespace', name: 'namespace', autoComplete: 'off', spellcheck: false, required: true, maxLength: 253}),
      h('button', {type: 'submit'}, 'Show')));
}

// Leads to the resources that fit a word of people.
export function Search({word}) {
  const search = event => {
    event.preventDefault();
    const text = new FormData(event.target).get('q').trim();
    go(text ? pathOf.resources({q: text}) : '/resources');
  };
  return h('form', {class: 'search', role: 'search', onSubmit: search},
    h('label', {for: 'q'}, 'Name, ARN, id, KIND/NAME of an object, or service'),
    h('div', null, h('input', {id: 'q', name: 'q', key: word, defaultValue: word, maxLength: 512, autoComplete: 'off', spellcheck: false}),
      h('button', {type: 'submit'}, 'Search')));
}

// The answer, or why there is none (yet).
export function Answered({answer, children, empty}) {
  if (answer.loading) return h('p', {class: 'quiet', role: 'status'}, 'Loading …');
  return h(Fragment, null,
    h(Trouble, answer),
    answer.value && (empty && empty(answer.value) ? null : children(answer.value)));
}

export function Section({title, id, count, children}) {
  return h('section', {'aria-labelledby': id},
    h('h2', {id}, title, count !== undefined && h('span', {class: 'count'}, ` ${number(count)}`)), children);
}

export const number = count => count.toLocaleString('en');

// 'resource' where there is one, else 'resources'.
export const plural = (count, one, many = `${one}s`) => count === 1 ? one : many;

// Columns: [title, cell of an item, class]. A row of a narrow window is a card: each cell says its column.
export function Table({label, columns, items}) {
  return h('div', {class: 'table-frame', tabIndex: 0, role: 'group', 'aria-label': label},
    h('table', null,
      h('thead', null, h('tr', null, columns.map(([title, , style]) => h('th', {scope: 'col', class: style}, title)))),
      h('tbody', null, items.map(item => h('tr', null, columns.map(([title, cell, style]) =>
        h('td', {class: style, 'data-title': title}, h('div', null, cell(item)))))))));
}

// Resources as a table: the same columns wherever some are listed.
export const resourceColumns = [
  ['Resource', each => each.redacted ? h(Name, {text: each.name}) :
    h('a', {href: pathOf.resource(each.id)}, h(Name, {text: each.name || each.key}))],
  ['Type', each => each.type],
  ['State', each => each.redacted ? 'taken' : h(Fragment, null, h(State, {state: each.state}), each.contested && h(Contested))],
  ['Service', each => h(ServiceName, {text: each.service})],
  ['Owner', each => each.root ? h(Thing, {object: each.root}) : '–'],
  ['Account', each => h(Name, {text: each.account || '–'})],
  ['Region', each => h(Name, {text: each.region || '–'})],
];
