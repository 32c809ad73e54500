// Denials: who was refused what and why, and how often.

import {useAnswer} from './client.js';
import {Answered, Fragment, Name, Table, Thing, Time, h, number} from './elements.js';

export function Denials() {
  const answer = useAnswer('/denials', {limit: 1000}, {every: 15});
  return h(Fragment, null,
    h('h1', null, 'Denials'),
    h('p', {class: 'quiet'}, 'The last 2,000 of this server since it began, the latest first.'),
    h(Answered, {answer}, ({items}) => items.length === 0 ? h('p', {class: 'good'}, 'Nobody was refused.') :
      h(Table, {label: 'Denials', items, columns: [
        ['Object', each => h(Thing, {object: each.object})],
        ['Resource', each => h(Name, {text: each.resource})],
        ['Rule', each => each.rule],
        ['Why', each => h(Name, {text: each.cause})],
        ['User', each => h(Name, {text: each.user})],
        ['Times', each => number(each.count), 'numeric'],
        ['First', each => h(Time, {at: each.first})],
        ['Last', each => h(Time, {at: each.last})],
      ]})));
}
