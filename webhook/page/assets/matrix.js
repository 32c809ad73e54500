// Matrix: services by types, or by accounts, as a heat map; a cell leads to its list.

import {useAnswer} from './client.js';
import {Answered, Fragment, Name, go, h, number, pathOf, plural, seen} from './elements.js';

const {useState} = preactHooks;

const kRows = 40;
const kColumns = 30;
const kHeats = 4;

// 0 to kHeats: each step is a multiple of the one before, as counts differ by orders of magnitude.
function heatOf(count, most) {
  if (count === 0) return 0;
  if (most <= 1) return 1;
  return 1 + Math.min(kHeats - 1, Math.floor(kHeats * Math.log(count) / Math.log(most + 1)));
}

// The filter that lists a row, a column or a cell; null where nothing can be asked.
function filterOf(by, service, column) {
  const filter = {};
  if (service !== null) filter.service = service;
  if (column !== null) filter[by] = column;
  return Object.values(filter).some(each => each === '') ? null : filter;
}

const Linked = ({filter, children, ...more}) => filter ? h('a', {href: pathOf.resources(filter), ...more}, children) : h('span', more, children);

function Grid({matrix}) {
  const [rows, setRows] = useState(kRows);
  const [columns, setColumns] = useState(kColumns);
  const {by} = matrix;
  const shown = matrix.columns.slice(0, columns);
  const most = Math.max(1, ...matrix.rows.slice(0, rows).flatMap(row => row.cells.map(cell => cell.count)));
  const nameless = {service: 'no service', type: 'no type', account: 'no account'};
  return h(Fragment, null,
    h('div', {class: 'matrix-frame', tabIndex: 0, role: 'group', 'aria-label': 'Ownerships of services'},
      h('table', {class: 'matrix'},
        h('thead', null, h('tr', null,
          h('th', {scope: 'col'}, 'Service'), h('th', {scope: 'col', class: 'numeric'}, 'All'),
          shown.map(column => h('th', {scope: 'col', class: 'matrix-column'},
            h(Linked, {filter: filterOf(by, null, column.name)}, h(Name, {text: column.name || nameless[by]})))))),
        h('tbody', null, matrix.rows.slice(0, rows).map(row => {
          const cells = new Map(row.cells.map(cell => [cell.column, cell]));
          return h('tr', null,
            h('th', {scope: 'row'}, row.service ? h('a', {href: pathOf.service(row.service)}, h(Name, {text: row.service})) : nameless.service),
            h('td', {class: 'numeric'}, h(Linked, {filter: filterOf(by, row.service, null)}, number(row.count))),
            shown.map(column => {
              const cell = cells.get(column.name);
              if (!cell) return h('td', null);
              const contested = cell.contested > 0 ? `, ${number(cell.contested)} contested` : '';
              return h('td', {class: `heat heat-${heatOf(cell.count, most)}${contested ? ' heat-contested' : ''}`},
                h(Linked, {filter: filterOf(by, row.service, column.name), title: `${seen(row.service)}, ${column.name}: ${number(cell.count)}${contested}`},
                  number(cell.count), contested && h('span', {class: 'heat-mark'}, h('span', {'aria-hidden': true}, ' !'), h('span', {class: 'hidden'}, contested))));
            }));
        })))),
    matrix.rows.length > rows && h('button', {type: 'button', onClick: () => setRows(rows + kRows)},
      `${number(matrix.rows.length - rows)} more ${plural(matrix.rows.length - rows, 'service')}`), ' ',
    matrix.columns.length > columns && h('button', {type: 'button', onClick: () => setColumns(columns + kColumns)},
      `${number(matrix.columns.length - columns)} more ${plural(matrix.columns.length - columns, by)}`),
    !matrix.complete && h('p', {class: 'quiet'}, 'Only the 1,000 services and 100 columns with the most ownerships.'));
}

export function Matrix() {
  const given = new URLSearchParams(location.search);
  const by = given.get('by') === 'account' ? 'account' : 'type';
  const account = by === 'type' ? given.get('account') || '' : '';
  const answer = useAnswer('/matrix', {by, account}, {every: 60});
  const accounts = useAnswer(answer.value ? '/matrix' : null, {by: 'account'});
  const show = filter => go('/matrix' + (Object.keys(filter).length > 0 ? '?' + new URLSearchParams(filter) : ''));
  const names = (accounts.value?.columns || []).map(each => each.name).filter(Boolean);
  return h(Fragment, null,
    h('h1', null, 'Matrix'),
    h('fieldset', {class: 'filters'}, h('legend', null, 'Show'),
      h('label', null, 'Columns', h('select', {value: by, onChange: event => show(event.target.value === 'account' ? {by: 'account'} : {})},
        h('option', {value: 'type', selected: by === 'type'}, 'types'), h('option', {value: 'account', selected: by === 'account'}, 'accounts'))),
      by === 'type' && h('label', null, 'Account', h('select', {value: account, onChange: event => show(event.target.value ? {account: event.target.value} : {})},
        h('option', {value: '', selected: !account}, 'all'),
        (account && !names.includes(account) ? [account, ...names] : names).map(each => h('option', {value: each, selected: each === account}, each))))),
    h(Answered, {answer}, matrix => matrix.rows.length === 0 ? h('p', null, 'Nothing is owned yet.') : h(Grid, {key: by + account, matrix})));
}
