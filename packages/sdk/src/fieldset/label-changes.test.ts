import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recordingSource } from '../../test/helper.ts'
import type { Batch } from '../schema/batch.ts'
import { counter, gauge, label, optional, timestamp } from '../schema/field.ts'
import { readRecords } from '../schema/reader.ts'
import { defineType } from '../schema/record-type.ts'
import { viewsOf } from '../schema/views.ts'
import { batchProjection } from './batch-projection.ts'
import { createFieldSet } from './fieldset.ts'
import { LabelChanges, type LabelOptions } from './label-changes.ts'

const port = defineType(
  'port',
  'A port',
  {
    time: timestamp(),
    device: label(),
    lane: label(),
    rx_bytes_total: counter('u64', { unit: 'bytes', help: 'Received' }),
    heat: optional(gauge('f64', { help: 'Heat' })),
  },
  { entity: { kind: 'port', key: ['device'] } },
)
const time = 1_800_000_000_000_000_000n

function batchOf(): Batch {
  const { source, emitted } = recordingSource({ labels: { node: 'n1', rack: '7' } })
  source.report(port, [
    { time, device: 'eth0', lane: 'a', rx_bytes_total: 2n ** 64n - 1n },
    { time, device: 'eth1', lane: 'b', rx_bytes_total: 1n, heat: 1.5 },
  ])
  source.flush()
  return emitted[0] as Batch
}

function changed(options: LabelOptions, lines?: string) {
  let faults = 0
  const labels = new LabelChanges(options, () => faults++)
  const set = lines === undefined ? undefined : createFieldSet('fset', lines, 'a.fset')
  const given = batchOf()
  const project = batchProjection(port, { set, labels })
  const passed = project(given)
  assert.ok(passed)
  assert.equal(project(given)?.source, passed.source, 'a source stays one object')
  const records = [...readRecords(passed.type, viewsOf(passed.bytes), passed.count, passed.symbols)]
  return { passed, given, records, labels, faults }
}

test('labels of records and of sources are dropped, renamed and added, and values stay', () => {
  const { passed, records, faults } = changed({
    add: { cluster: 'c1', node: 'other' },
    rename: { device: 'port', rack: 'row' },
    drop: ['lane'],
  })
  assert.deepEqual(passed.source.labels, { cluster: 'c1', node: 'n1', row: '7' })
  assert.deepEqual(records, [
    { time, port: 'eth0', rx_bytes_total: 2n ** 64n - 1n },
    { time, port: 'eth1', rx_bytes_total: 1n, heat: 1.5 },
  ])
  assert.deepEqual([passed.type.name, passed.type.entity, faults], ['port', undefined, 0])
})

test('a rename alone copies no bytes, and names can be exchanged', () => {
  const { passed, given, records } = changed({ rename: { device: 'lane', lane: 'device' } })
  assert.deepEqual([records[0]?.lane, records[0]?.device, passed.bytes], ['a', 'eth0', given.bytes])
})

test('a new name that exists keeps the record, under the old name, and is counted', () => {
  const { records, labels, faults } = changed({ rename: { device: 'heat', node: 'rack' } })
  assert.equal(records[0]?.device, 'eth0')
  assert.equal(faults, 2)
  assert.equal(labels.fault, 'labels.rename.node: source test has rack already; it keeps node')
})

test('the field set chooses by the old names', () => {
  const { records } = changed({ rename: { device: 'port' }, drop: ['lane'] }, '[port]\nheat')
  assert.deepEqual(records, [
    { time, port: 'eth0' },
    { time, port: 'eth1', heat: 1.5 },
  ])
})
