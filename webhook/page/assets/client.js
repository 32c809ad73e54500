// What the page asks of the API: with whose token, what a refusal says, and when it is asked again.
// A token lives in the session of this tab only, and leaves it only as a header to this server.

const {useEffect, useState} = preactHooks;

const kTokenKey = 'truce-token';
const kNamespaceKey = 'truce-namespace';
const kWaitMax = 30;  // seconds between two tries
const kPatience = 20000;  // ms until an answer counts as none

let token = sessionStorage.getItem(kTokenKey) || '';
let namespace = sessionStorage.getItem(kNamespaceKey) || '';
let listeners = [];

const tell = () => { for (const listener of listeners) listener(); };

export const session = {
  get hasToken() { return token !== ''; },
  // Of whoever may not list all: the one that lists are about; '' is all.
  get namespace() { return namespace; },
  choose(name) {
    namespace = name.trim();
    sessionStorage.setItem(kNamespaceKey, namespace);
    if (namespace === '') sessionStorage.removeItem(kNamespaceKey);
    tell();
  },
  signIn(text) {
    token = text.trim().replace(/^bearer\s+/i, '');
    sessionStorage.setItem(kTokenKey, token);
    tell();
  },
  signOut() {
    token = '';
    sessionStorage.removeItem(kTokenKey);
    sessionStorage.removeItem(kNamespaceKey);
    namespace = '';
    tell();
  },
};

// Renders again when somebody signs in or out; returns how often that was.
export function useSession() {
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const listener = () => setTurn(present => present + 1);
    listeners.push(listener);
    return () => { listeners = listeners.filter(each => each !== listener); };
  }, []);
  return turn;
}

// Why a question has no answer. `status` 0: nobody answered.
export class Refusal extends Error {
  constructor(status, problem, wait) {
    super(problem.detail || problem.title || `HTTP ${status}`);
    this.status = status;
    this.title = problem.title || '';
    this.detail = problem.detail || '';
    this.remedy = problem.remedy || '';
    this.wait = wait;  // seconds, as the server asks; 0: it does not
  }
  // Whether asking again may help.
  get passes() { return this.status === 0 || this.status === 429 || this.status >= 502; }
}

let settings = null;

// What the server says of its configuration to everybody; an empty object until it is known, or where it is not.
export function useSettings() {
  const [known, setKnown] = useState({});
  useEffect(() => {
    settings ??= fetch('/page/settings.json', {credentials: 'same-origin'})
      .then(answer => answer.ok ? answer.json() : {}).catch(() => { settings = null; return {}; });
    settings.then(setKnown);
  }, []);
  return known;
}

export function addressOf(path, parameters = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== null && value !== '') query.set(name, value);
  }
  const text = query.toString();
  return text ? `${path}?${text}` : path;
}

// Asks once. Throws a Refusal, or an AbortError when `signal` said so.
export async function ask(path, parameters, signal) {
  const headers = {Accept: 'application/json'};
  if (token) headers.Authorization = `Bearer ${token}`;
  const patience = new AbortController();
  const timer = setTimeout(() => patience.abort(), kPatience);
  const give = () => patience.abort();
  signal?.addEventListener('abort', give);
  try {
    const answer = await fetch('/api/v1' + addressOf(path, parameters),
      {headers, signal: patience.signal, cache: 'no-cache', credentials: 'same-origin'});
    const text = await answer.text();
    const isJson = (answer.headers.get('Content-Type') || '').includes('json');
    const body = isJson ? JSON.parse(text) : {};
    if (answer.ok && isJson) return body;
    throw new Refusal(answer.status, body, Number(answer.headers.get('Retry-After')) || 0);
  } catch (fault) {
    if (fault instanceof Refusal || signal?.aborted) throw fault;
    throw new Refusal(0, {title: 'no answer', detail: navigator.onLine === false ?
      'This browser is offline.' : 'Truce does not answer.'}, 0);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', give);
  }
}

// Asks, and asks again while that may help: {value, refusal, loading, again}. `value` stays what it was
// while a new answer is awaited for the same question; `retryAt` is when it is asked again. A null path asks nothing.
export function useAnswer(path, parameters = {}, {every = 0} = {}) {
  const turn = useSession();
  const question = path === null ? null : addressOf(path, parameters);
  const [state, setState] = useState({question: undefined, value: null, refusal: null, retryAt: 0});
  useEffect(() => {
    if (question === null) return undefined;
    const stop = new AbortController();
    let timer = 0;
    let tries = 0;
    const attempt = async () => {
      clearTimeout(timer);
      try {
        const value = await ask(question, {}, stop.signal);
        tries = 0;
        setState({question, value, refusal: null, retryAt: 0});
        if (every) timer = setTimeout(attempt, every * 1000);
      } catch (refusal) {
        if (stop.signal.aborted) return;
        if (!(refusal instanceof Refusal)) throw refusal;
        let retryAt = 0;
        if (refusal.passes) {
          const wait = Math.min(kWaitMax, Math.max(refusal.wait, 2 ** tries));
          tries += 1;
          retryAt = Date.now() + wait * 1000;
          timer = setTimeout(attempt, wait * 1000);
        }
        setState(present => ({
          question, refusal, retryAt, value: present.question === question && refusal.passes ? present.value : null,
        }));
      }
    };
    const soon = () => { tries = 0; attempt(); };
    window.addEventListener('online', soon);
    attempt();
    return () => {
      stop.abort();
      clearTimeout(timer);
      window.removeEventListener('online', soon);
    };
  }, [question, turn]);
  const isPresent = state.question === question;
  return {
    value: isPresent ? state.value : null,
    refusal: isPresent ? state.refusal : null,
    retryAt: isPresent ? state.retryAt : 0,
    loading: question !== null && !isPresent,
  };
}
