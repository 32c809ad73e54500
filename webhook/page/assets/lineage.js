// The lineage of a resource as a drawing: what declares it, the resource, and who uses it; and as a list for who
// does not see it.

import {Fragment, Thing, h, objectText} from './elements.js';

const kBoxWidth = 230;
const kBoxHeight = 48;
const kGapAcross = 60;
const kGapDown = 14;

function shortened(text, most) {
  return text.length > most ? text.slice(0, most - 1) + '…' : text;
}

// Columns of boxes: [kind, title, note].
function columnsOf(resource) {
  const isSame = (a, b) => a.kind === b.kind && a.group === b.group && a.namespace === b.namespace && a.name === b.name;
  const declaring = resource.declarations.map(each => each.object).filter(object => !isSame(object, resource.root));
  const columns = [];
  columns.push([{style: 'root', object: resource.root, note: resource.state === 'imported' ? 'source' : 'owner'}]);
  if (declaring.length > 0) {
    columns.push(declaring.map(object => {
      const own = resource.declarations.find(each => isSame(each.object, object));
      return {style: 'manager', object, note: own.terminating ? 'goes away' : own.intent};
    }));
  }
  columns.push([{style: 'aws', title: resource.name || resource.key, note: resource.real ? resource.type : `${resource.type}, not created yet`}]);
  const users = resource.consumers.map(each => ({style: 'user', object: each.object, note: 'observes'}))
    .concat(resource.shares.map(each => ({style: 'user', title: each.to, note: `shared: ${each.level}`})));
  if (resource.transfer) users.push({style: 'user', title: resource.transfer.successor || resource.transfer.to, note: `transfer ${resource.transfer.state}`});
  if (resource.handOver) users.push({style: 'user', title: resource.handOver.successor, note: 'is offered it'});
  if (users.length > 0) columns.push(users);
  return columns;
}

const kMost = 8;  // boxes of a column

export function Lineage({resource}) {
  const columns = columnsOf(resource).map(column => column.length > kMost ?
    column.slice(0, kMost - 1).concat({style: 'user', title: `${column.length - kMost + 1} more`, note: ''}) : column);
  const rows = Math.max(...columns.map(column => column.length));
  const width = columns.length * kBoxWidth + (columns.length - 1) * kGapAcross;
  const height = rows * kBoxHeight + (rows - 1) * kGapDown;
  const placed = columns.map((column, across) => column.map((box, at) => ({
    ...box,
    x: across * (kBoxWidth + kGapAcross),
    y: (height - column.length * kBoxHeight - (column.length - 1) * kGapDown) / 2 + at * (kBoxHeight + kGapDown),
  })));
  const lines = [];
  for (let across = 0; across + 1 < placed.length; ++across) {
    for (const from of placed[across]) {
      for (const to of placed[across + 1]) lines.push({from, to});
    }
  }
  const titleOf = box => box.title || objectText(box.object);
  return h(Fragment, null,
    h('div', {class: 'drawing', tabIndex: 0, role: 'region', 'aria-label': 'Drawing of the lineage'},
      h('svg', {viewBox: `-1 -1 ${width + 2} ${height + 2}`, width: width + 2, height: height + 2, 'aria-hidden': true, class: 'lineage'},
        lines.map(({from, to}) => h('path', {class: 'lineage-line', d:
          `M${from.x + kBoxWidth} ${from.y + kBoxHeight / 2} C${from.x + kBoxWidth + kGapAcross / 2} ${from.y + kBoxHeight / 2} ` +
          `${to.x - kGapAcross / 2} ${to.y + kBoxHeight / 2} ${to.x} ${to.y + kBoxHeight / 2}`})),
        placed.flat().map(box => h('g', {class: `lineage-box lineage-${box.style}`},
          h('title', null, titleOf(box)),
          h('rect', {x: box.x, y: box.y, width: kBoxWidth, height: kBoxHeight, rx: 6}),
          h('text', {x: box.x + 12, y: box.y + 20, class: 'lineage-title'}, shortened(titleOf(box), 30)),
          h('text', {x: box.x + 12, y: box.y + 37, class: 'lineage-note'}, shortened(box.note, 34)))))),
    h('ol', {class: 'hidden'}, placed.flat().map(box => h('li', null,
      box.object ? h(Thing, {object: box.object}) : h('bdi', null, box.title), ` (${box.note})`))));
}
