// Which view an address shows, and the frame around it.

import {session, useAnswer, useSession} from './client.js';
import {Denials} from './denials.js';
import {Fragment, go, h, Name, seen} from './elements.js';
import {Findings} from './findings.js';
import {Matrix} from './matrix.js';
import {Overview} from './overview.js';
import {Resource} from './resource.js';
import {Resources} from './resources.js';
import {Service, Services} from './service.js';

const {useEffect, useRef, useState} = preactHooks;

const kViews = [
  ['/', 'Overview'],
  ['/matrix', 'Matrix'],
  ['/resources', 'Resources'],
  ['/services', 'Services'],
  ['/denials', 'Denials'],
  ['/findings', 'Findings'],
];

// What counts all namespaces.
const kOfAll = ['/matrix', '/services'];

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

// [title, view] of an address.
function viewOf(path) {
  const [, first, ...more] = path.split('/');
  const rest = decoded(more.join('/'));
  if (path === '/') return ['Overview', h(Overview)];
  if (first === 'r' && rest) return [`Resource ${rest}`, h(Resource, {id: rest, key: rest})];
  if (first === 'services') return rest ? [`Service ${rest}`, h(Service, {name: rest, key: rest})] : ['Services', h(Services)];
  if (first === 'denials') return ['Denials', h(Denials, {id: rest})];
  if (first === 'findings') return ['Findings', h(Findings, {id: rest})];
  if (first === 'matrix') return ['Matrix', h(Matrix)];
  if (first === 'resources') return ['Resources', h(Resources)];
  return ['No such view', h(Fragment, null, h('h1', null, 'No such view'),
    h('p', null, 'The address belongs to no view. ', h('a', {href: '/'}, 'To the overview')))];
}

function usePlace() {
  const [place, setPlace] = useState(location.pathname + location.search);
  useEffect(() => {
    const listener = () => setPlace(location.pathname + location.search);
    window.addEventListener('popstate', listener);
    return () => window.removeEventListener('popstate', listener);
  }, []);
  return place;
}

// Links of the page change the view without loading it again.
function followLinks(event) {
  const link = event.target.closest?.('a[href]');
  const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  if (!link || !isPlain || event.defaultPrevented || link.target || link.origin !== location.origin) return;
  if (link.getAttribute('href').startsWith('#')) return;
  event.preventDefault();
  go(link.pathname + link.search);
  window.scrollTo(0, 0);
}

// What suspends refusals, on every view: nobody may take silence for peace.
function Suspended() {
  const {suspended = []} = useAnswer('/refusals', {}, {every: 30}).value || {};
  if (suspended.length === 0) return null;
  return h('div', {class: 'suspended', role: 'alert'}, suspended.map(each => h('p', null, h(Name, {text: each.what}), '.')));
}

function App() {
  useSession();
  usePlace();
  const version = useAnswer('/version');
  const main = useRef(null);
  const path = location.pathname;
  const [title, view] = viewOf(path);
  const isFirst = useRef(true);
  useEffect(() => {
    document.title = `${seen(title)} · Truce`;
    // Who follows a link with the keyboard or a reader is told where it leads.
    if (!isFirst.current) main.current.focus();
    isFirst.current = false;
  }, [path]);
  return h('div', {class: 'frame', onClick: followLinks},
    h('a', {class: 'skip', href: '#main'}, 'To the content'),
    h('header', null,
      h('a', {class: 'brand', href: '/'}, 'Truce'),
      h('nav', {'aria-label': 'Views'}, h('ul', null, kViews.filter(([to]) => !session.namespace || !kOfAll.includes(to)).map(([to, name]) => h('li', null,
        h('a', {href: to, 'aria-current': path === to || (to !== '/' && path.startsWith(to + '/')) ? 'page' : undefined},
          name))))),
      session.namespace && h('button', {type: 'button', class: 'quiet-button only', onClick: () => session.choose(''),
        'aria-label': `Only namespace ${seen(session.namespace)}; show all`}, h('bdi', null, seen(session.namespace)), ' ✕'),
      session.hasToken && h('button', {type: 'button', class: 'quiet-button', onClick: () => session.signOut()}, 'Sign out')),
    h(Suspended),
    h('main', {id: 'main', tabIndex: -1, ref: main}, view),
    h('footer', null, 'One owner for every cloud resource', version.value ? ` · ${version.value.version}` : '',
      ' · ', h('a', {href: '/openapi.yaml', target: '_blank', rel: 'noopener'}, 'API')));
}

preact.render(h(App), document.getElementById('app'));
