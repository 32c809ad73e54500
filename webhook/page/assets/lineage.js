// The lineage of a resource as a drawing: what declares it and what stands above that, the resource, and who uses
// it; and as a list for who does not see it.

import {Fragment, Name, h, objectText, seen, useNarrow} from './elements.js';

const kBoxWidth = 232;  // five columns fit into a window of 1400
const kBoxHeight = 48;
const kGapAcross = 40;
const kGapDown = 14;
const kIndent = 20;  // of a narrow window
const kMost = 8;  // boxes of a column

const keyOf = object => [object.cluster, object.group, object.kind, object.namespace, object.name].join('\n');

function shortened(text, most) {
  return text.length > most ? text.slice(0, most - 1) + '…' : text;
}

// What the answer about the resource itself tells, until the chains are there.
function linksOf(resource, lineage) {
  if (lineage) return lineage.objects;
  const known = resource.declarations.concat(resource.consumers).map(each => ({...each, above: null}));
  const hasRoot = known.some(each => keyOf(each.object) === keyOf(resource.root));
  return hasRoot ? known : [{object: resource.root, above: null, intent: 'none', terminating: false}, ...known];
}

// {columns: [[box]], edges: [[box, box]]}; a box is {style, object or title, note}.
function drawingOf(resource, lineage) {
  const links = linksOf(resource, lineage);
  const byKey = new Map(links.map(link => [keyOf(link.object), link]));
  const above = link => link.above && byKey.get(keyOf(link.above));
  const depthOf = link => {
    let depth = 0;
    for (let up = above(link); up && depth < 8; up = above(up)) ++depth;
    return depth;
  };
  const isUser = link => link.intent === 'observes';
  const boxes = new Map();
  const columns = [];
  for (const link of links.filter(each => !isUser(each))) {
    const depth = depthOf(link);
    const isRoot = keyOf(link.object) === keyOf(resource.root);
    const box = {
      style: isRoot ? 'root' : depth === 0 && resource.contested ? 'contested' : 'manager', object: link.object,
      note: link.terminating ? 'goes away' : isRoot ? 'owner' : link.intent === 'none' ? '' : 'declares it',
    };
    boxes.set(link, box);
    (columns[depth] ||= []).push(box);
  }
  if (columns.length === 0) columns.push([{style: 'root', object: resource.root, note: resource.reason || 'owner'}]);
  const edges = [];
  const aws = {style: 'aws', title: resource.name || resource.key, note: resource.real ? resource.type : `${resource.type}, not seen yet`};
  const hasBelow = new Set(links.map(above).filter(Boolean));
  for (const [link, box] of boxes) {
    if (above(link) && boxes.has(above(link))) edges.push([boxes.get(above(link)), box]);
    if (!hasBelow.has(link)) edges.push([box, aws]);
  }
  if (boxes.size === 0) edges.push([columns[0][0], aws]);
  columns.push([aws]);
  const users = links.filter(isUser).map(each => ({style: 'user', object: each.object, note: 'observes'}))
    .concat(resource.shares.map(each => ({style: 'user', title: each.to, note: `shared: ${each.level}`})));
  if (resource.transfer) users.push({style: 'user', title: resource.transfer.successor || resource.transfer.to, note: `transfer ${resource.transfer.state}`});
  if (resource.handOver) users.push({style: 'user', title: resource.handOver.successor, note: 'is offered it'});
  if (users.length > 0) columns.push(users);
  for (const user of users) edges.push([aws, user]);
  return {columns: columns.filter(Boolean), edges};
}

// Of a narrow window: each chain as a whole from top to bottom, and what several lead to below them all.
function placeDown(shown, edges) {
  const depthOf = new Map(shown.flatMap((column, depth) => column.map(box => [box, depth])));
  const order = [];
  const follow = box => {
    if (order.includes(box) || edges.some(([from, to]) => to === box && depthOf.has(from) && !order.includes(from))) return;
    order.push(box);
    for (const [from, to] of edges) if (from === box && depthOf.has(to)) follow(to);
  };
  shown.flat().forEach(follow);
  order.forEach((box, at) => {
    box.x = depthOf.get(box) * kIndent;
    box.y = at * (kBoxHeight + kGapDown);
  });
  return {boxes: order, height: order.length * (kBoxHeight + kGapDown) - kGapDown, width: (shown.length - 1) * kIndent + kBoxWidth};
}

function place({columns, edges}, isNarrow) {
  const shown = columns.map(column => column.length <= kMost ? column :
    column.slice(0, kMost - 1).concat({style: 'user', title: `${column.length - kMost + 1} more`, note: ''}));
  const placed = isNarrow ? placeDown(shown, edges) : placeAcross(shown);
  return {...placed, lines: edges.filter(([from, to]) => from.x !== undefined && to.x !== undefined)};
}

function placeAcross(shown) {
  const rows = Math.max(...shown.map(column => column.length));
  const height = rows * kBoxHeight + (rows - 1) * kGapDown;
  shown.forEach((column, across) => column.forEach((box, at) => {
    box.x = across * (kBoxWidth + kGapAcross);
    box.y = (height - column.length * kBoxHeight - (column.length - 1) * kGapDown) / 2 + at * (kBoxHeight + kGapDown);
  }));
  return {boxes: shown.flat(), height, width: shown.length * kBoxWidth + (shown.length - 1) * kGapAcross};
}

function Line({from, to, isNarrow}) {
  if (isNarrow) {
    return h('path', {class: 'lineage-line',
      d: `M${from.x + kIndent / 2} ${from.y + kBoxHeight} V${to.y + kBoxHeight / 2} H${to.x}`});
  }
  const [x, y] = [from.x + kBoxWidth, from.y + kBoxHeight / 2];
  const end = to.y + kBoxHeight / 2;
  const middle = (x + to.x) / 2;
  return h('path', {class: 'lineage-line', d: `M${x} ${y} C${middle} ${y} ${middle} ${end} ${to.x} ${end}`});
}

export function Lineage({resource, lineage}) {
  const isNarrow = useNarrow();
  const {boxes, lines, width, height} = place(drawingOf(resource, lineage), isNarrow);
  const titleOf = box => box.title ? seen(box.title) : objectText(box.object, boxes.map(other => other.object));
  // The kind stands in the second line: names that differ at their end are told apart.
  const placeOf = box => box.title ? seen(box.title) : seen([box.object.namespace, box.object.name].filter(Boolean).join('/'));
  const kindOf = box => box.object && titleOf(box).split(' ')[0];
  return h(Fragment, null,
    h('div', {class: 'drawing', tabIndex: 0, role: 'group', 'aria-label': 'Drawing of the lineage'},
      h('svg', {viewBox: `-1 -1 ${width + 2} ${height + 2}`, width: width + 2, height: height + 2, 'aria-hidden': true, class: 'lineage'},
        lines.map(([from, to]) => h(Line, {from, to, isNarrow})),
        boxes.map(box => h('g', {class: `lineage-box lineage-${box.style}`},
          h('title', null, titleOf(box)),
          h('rect', {x: box.x, y: box.y, width: kBoxWidth, height: kBoxHeight, rx: 6}),
          h('text', {x: box.x + 12, y: box.y + 20, class: 'lineage-title'}, shortened(placeOf(box), 27)),
          h('text', {x: box.x + 12, y: box.y + 37, class: 'lineage-note'},
            shortened([kindOf(box), box.note].filter(Boolean).map(seen).join(', '), 34)))))),
    h('ol', {class: 'hidden'}, boxes.map(box => h('li', null,
      box.object ? h(Name, {text: titleOf(box)}) : h('bdi', null, titleOf(box)), box.note && ` (${box.note})`))));
}
