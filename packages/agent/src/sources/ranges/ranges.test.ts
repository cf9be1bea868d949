import assert from 'node:assert/strict'
import { test } from 'node:test'
import { counter, defineType, gauge, label, optional, type RecordOf, readRecords, timestamp, viewsOf } from '@sonde/sdk'
import { absenceType } from '@sonde/sdk/internal'
import { SourceOutlet } from '../../hosting/source-outlet.ts'
import { SOURCES } from '../registry.ts'
import { impossible, QUANTITIES, type Quantity } from './quantities.ts'
import { BY_FIELD, rangesOf } from './range-of.ts'

const TYPES = [...new Map(SOURCES.flatMap(({ types }) => types).map((type) => [type.name, type])).values()]

test('every gauge of a physical unit, of every declared type, has a range', () => {
  const physical: ReadonlySet<Quantity> = new Set(Object.values(QUANTITIES))
  let count = 0
  for (const type of TYPES) {
    for (const { name, field } of type.layout.slots) {
      if (field.role !== 'gauge' || field.unit === undefined) continue
      const quantity = rangesOf(type).get(name)?.quantity
      assert.ok(quantity !== undefined && physical.has(quantity), `${type.name}.${name} in ${field.unit}`)
      count++
    }
  }
  assert.ok(count > 100)
})

test('every field that the table names is declared, and every quantity is used', () => {
  const used = new Set(TYPES.flatMap((type) => [...rangesOf(type).values()].map(({ quantity }) => quantity)))
  for (const [type, fields] of Object.entries(BY_FIELD)) {
    const declared = TYPES.find(({ name }) => name === type)
    for (const field of Object.keys(fields)) assert.ok(declared?.fields[field], `${type}.${field}`)
  }
  // The number of a package is only a label; no field holds it.
  for (const [name, quantity] of Object.entries(QUANTITIES))
    assert.ok(used.has(quantity) || name === 'package', `${name} is used`)
})

test('both ends of a range are values, and what is beyond them is none', () => {
  for (const quantity of Object.values(QUANTITIES)) {
    const { least, most } = quantity
    assert.ok(least < most)
    for (const value of [least, most]) assert.equal(impossible(quantity, value), undefined)
    for (const value of [least - 1, most + Math.max(1, most / 1e6), Number.NaN, Infinity, -Infinity])
      assert.match(
        impossible(quantity, value)?.reason ?? '',
        new RegExp(`^${value} ?.*was reported, which is impossible`),
      )
  }
})

const unitType = defineType('range_test', 'A unit', {
  time: timestamp(),
  unit: label(),
  load: optional(gauge('u8', { unit: 'percent', help: 'Load' })),
  heat_celsius: gauge('f64', { unit: 'celsius', help: 'Heat' }),
  total: counter('u64', { help: 'Total' }),
})

test('an outlet takes out what cannot be, says it once, and that it is back', () => {
  const told: string[] = []
  const records: RecordOf<typeof unitType>[] = []
  const outlet = new SourceOutlet({
    ...{ name: 'tested', intervalMs: 1000, paths: { procfs: '/proc', sysfs: '/sys' } },
    stats: { failed: { add: () => undefined }, dropped: new Map() },
    emit(batch) {
      for (const record of readRecords(batch.type, viewsOf(batch.bytes), batch.count, batch.symbols)) {
        if (batch.type === absenceType) told.push(`${record.series} ${record.field} ${record.code}: ${record.reason}`)
        if (batch.type === unitType) records.push(record as never)
      }
    },
  })
  const report = (load: number | undefined, heat_celsius: number, unit = 'a') => {
    outlet.context
      .report('a')
      .report(unitType, { time: BigInt(Date.now()) * 1_000_000n, unit, load, heat_celsius, total: 1 })
    outlet.flush()
    const [record] = records.splice(0)
    return [told.splice(0), record && [record.load, record.heat_celsius]]
  }
  assert.deepEqual(report(50, 20), [[], [50, 20]])
  const tooMuch = 'unit="a" load failed: 4294967295 % was reported, which is impossible: a percentage is at most 100 %'
  assert.deepEqual(report(4294967295, 20), [[tooMuch], [undefined, 20]])
  assert.deepEqual(report(187, 20), [[], [undefined, 20]], 'in the words of the first')
  assert.deepEqual(report(50, 20, 'b'), [[], [50, 20]], 'another series')
  assert.deepEqual(report(100, 20), [['unit="a" load : '], [100, 20]])
  const tooCold =
    'unit="a"  failed: -274 °C was reported, which is impossible: a temperature of hardware is at least -55 °C'
  assert.deepEqual(report(50, -274), [[tooCold], undefined], 'a record cannot be without it')
  assert.deepEqual(report(50, -40), [['unit="a"  : '], [50, -40]])
  outlet.context.absences.gone(unitType, { unit: 'a' }, 'gone')
  report(187, 20)
  outlet.context.absences.gone(unitType, { unit: 'a' }, 'gone')
  assert.equal(report(187, 20)[0]?.length, 2, 'told anew of a series that comes back')
})
