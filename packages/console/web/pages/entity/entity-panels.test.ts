import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ListedMetric, ListedType } from '@sonde/sdk/api'
import { entityPanels, PANEL_LIMIT_COUNT, typesOf } from './entity-panels.ts'

const field = (name: string, role: ListedMetric['role'], unit = ''): ListedMetric => ({
  name,
  metric: `belt_${name}`,
  kind: 'f64',
  role,
  unit,
  help: '',
})

function typeOf(name: string, fields: readonly ListedMetric[], more: Partial<ListedType> = {}): ListedType {
  const entity = { kind: 'conveyor_belt', key: ['belt'] }
  return { name, description: '', labels: ['belt'], entity, fields, records: [], live: true, read: '', ...more }
}

test('the type that defines a kind comes first, and others are left out', () => {
  const roller = typeOf('belt_roller', [])
  const info = typeOf('belt_info', [], { entity: { kind: 'conveyor_belt', key: ['belt'], defines: true } })
  const other = typeOf('robot', [], { entity: { kind: 'robot', key: ['robot'] } })
  const { entity: _, ...silent } = typeOf('load', [])
  assert.deepEqual(typesOf('conveyor_belt', [roller, other, silent, info]), [info, roller])
})

test('each field is a chart with a line for each series, counters as rates', () => {
  const fields = [field('turns_total', 'counter'), field('heat_celsius', 'gauge', 'celsius'), field('state', 'value')]
  const panels = entityPanels([typeOf('belt_roller', fields, { labels: ['belt', 'roller', 'side'] })])
  assert.deepEqual(
    panels.map(({ title, quantity, lines }) => [title, quantity.base, lines]),
    [
      ['Turns', '/s', [{ metric: 'belt_turns_total', function: 'rate', label: 'Turns', each: ['roller', 'side'] }]],
      ['Heat', '°C', [{ metric: 'belt_heat_celsius', function: 'last', label: 'Heat', each: ['roller', 'side'] }]],
    ],
  )
  const many = Array.from({ length: 100 }, (_, i) => field(`n${i}`, 'gauge'))
  assert.equal(entityPanels([typeOf('belt_many', many)]).length, PANEL_LIMIT_COUNT)
})
