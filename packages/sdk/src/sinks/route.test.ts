import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recordingSource } from '../../test/helper.ts'
import { createFieldSet, type FieldSet } from '../fieldset/fieldset.ts'
import type { Batch } from '../schema/batch.ts'
import { counter, gauge, label, timestamp } from '../schema/field.ts'
import { defineType } from '../schema/record-type.ts'
import { type Sink, sinkStats } from '../sink/sink.ts'
import { Route, type RouteOptions } from './route.ts'

const fields = {
  time: timestamp(),
  device: label(),
  rx_total: counter('u64'),
  rx_spare: gauge('u8'),
  heat: gauge('f64'),
}
const port = defineType('port', 'A port', fields, { core: ['rx_total', 'heat'] })
const spare = defineType('spare', 'A spare port', fields, { core: [] })
const sink: Sink = {
  name: 'inner',
  stats: sinkStats(),
  accept: () => undefined,
  flush: async () => undefined,
  close: async () => undefined,
}

function batchOf(type: typeof port): Batch {
  const { source, emitted } = recordingSource({})
  source.report(type, { time: 1_800_000_000_000_000_000n, device: 'a', rx_total: 1, rx_spare: 2, heat: 3 })
  source.flush()
  return emitted[0] as Batch
}

function fieldsOf(options: RouteOptions, batch: Batch): string | undefined {
  const passed = new Route(sink, options).pass(batch)
  return passed && Object.keys(passed.type.fields).join(' ')
}

test('of the set core pass the fields of class core, also of a field set, and types without any are left out', () => {
  const fieldSet = { current: createFieldSet('fset', '[port]\nrx', 'a'), fault: '' }
  const batch = batchOf(port)
  assert.equal(new Route(sink, { set: 'full' }).pass(batch), batch)
  assert.equal(fieldsOf({ set: 'core' }, batch), 'time device rx_total heat')
  assert.equal(fieldsOf({ set: 'core', fieldSet }, batch), 'time device rx_total')
  assert.equal(fieldsOf({ fieldSet }, batch), 'time device rx_total rx_spare')
  assert.equal(fieldsOf({ set: 'core' }, batchOf(spare)), undefined)
})

test('a field set that changes changes its core part too', () => {
  const fieldSet: { current: FieldSet; fault: string } = { current: createFieldSet('cset', 'heat', 'a'), fault: '' }
  const route = new Route(sink, { set: 'core', fieldSet })
  const batch = batchOf(port)
  const fields = () => Object.keys(route.pass(batch)?.type.fields ?? {}).join(' ')
  assert.equal(fields(), 'time device heat')
  fieldSet.current = createFieldSet('cset', 'rx', 'a')
  assert.equal(fields(), 'time device rx_total')
})
