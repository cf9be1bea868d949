import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FlowCollector } from '../../../test/flow-collector.ts'
import { numberOf } from '../../../test/flow-decoder.ts'
import { sondeError, until } from '../../../test/helper.ts'
import { PrometheusRig } from '../../../test/prometheus-rig.ts'
import { BatchSource } from '../../../test/sink-records.ts'
import { testSink } from '../../../test/test-sink.ts'
import type { DeliverySink } from '../../delivery/delivery.ts'
import type { Batch } from '../../schema/batch.ts'
import { element } from '../../schema/element.ts'
import { array, chars, counter, timestamp, value } from '../../schema/field.ts'
import { readRecord } from '../../schema/reader.ts'
import { defineOwnType, defineType, type RecordType } from '../../schema/record-type.ts'
import { viewsOf } from '../../schema/views.ts'
import { createNetflow } from './netflow.ts'

const flow = defineType('flow', 'A flow', {
  time: timestamp(),
  from: element('IPV4_SRC_ADDR'),
  bytes: element('IN_BYTES', counter('u64')),
})

const AT = 1_800_000_000_000_000_000n
const ELEMENTS: Readonly<Record<string, number>> = {
  device: 10,
  rx_bytes_total: 1,
  speed_bytes_per_second: 23,
  drops_total: 133,
}

/** The type with elements in the same layout. A label goes as a number, whose text the test keeps. */
function flowTypeOf({ name, description, fields }: RecordType): RecordType {
  const changed = Object.entries(fields).map(([key, field]) => {
    const id = ELEMENTS[key]
    if (id === undefined) return [key, field]
    return [key, key === 'device' ? { ...value('u32'), element: id } : { ...field, element: id }]
  })
  return defineOwnType(name, description, Object.fromEntries(changed))
}

/** Sends records of ports as flows. */
function asFlows(sink: DeliverySink, names: string[], onOther: (records: number) => void): DeliverySink {
  const accept = (batch: Batch) => {
    const { type, count, symbols } = batch
    // `slice` of a Buffer would not copy.
    const bytes = new Uint8Array(batch.bytes)
    const device = type.layout.slots.find(({ name }) => name === 'device')
    if (!type.name.startsWith('conformance_port') || bytes.length !== count * type.layout.recordBytes) {
      onOther(count)
      return sink.accept(batch)
    }
    const data = new DataView(bytes.buffer)
    for (let i = 0; i < count; i++) {
      const at = i * type.layout.recordBytes + (device?.offset ?? 0)
      const text = symbols.text(data.getUint32(at, true))
      if (!names.includes(text)) names.push(text)
      data.setUint32(at, names.indexOf(text), true)
    }
    sink.accept({ ...batch, bytes, type: flowTypeOf(type) })
  }
  return new Proxy(sink, {
    get: (target, key) => {
      if (key === 'accept') return accept
      const member: unknown = Reflect.get(target, key)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
}

testSink('netflow', 'push', async (t, limits) => {
  const collector = await FlowCollector.start(t)
  const names: string[] = []
  /** Records that a route to this destination leaves out. */
  let others = 0
  const sink = createNetflow({ port: collector.port, protocol: 'ipfix', ...limits })
  return {
    sink: asFlows(sink, names, (records) => {
      others += records
    }),
    // The only trouble that UDP can notice is that nobody listens.
    peer: (behaviour) => (behaviour === 'takes' ? collector.listen() : collector.stop()),
    neverRefuses: true,
    async read(_type, field) {
      await until('all packets are read', () => collector.records.length >= sink.stats.out - others)
      const id = ELEMENTS[field] ?? 0
      return collector.records
        .filter(({ fields }) => fields.has(id))
        .map(({ fields }) => [names[Number(numberOf(fields.get(10)))] ?? '', numberOf(fields.get(id))])
    },
  }
})

test('refuses a template of zero or wrong length, an unknown field and an IPv6 address in an IPv4 field', () => {
  const element4 = (field: Parameters<typeof element>[1]) => () => element('IPV4_SRC_ADDR', field as never)
  assert.throws(
    element4(value('u64')),
    sondeError(
      'SCH_ELEMENT',
      /^element IPV4_SRC_ADDR has a value of kind u64 with 1 elements; allowed: a value of kind u32/,
    ),
  )
  assert.throws(
    () => element('IPV6_SRC_ADDR', array(value('u8'), 8) as never),
    sondeError('SCH_ELEMENT', /allowed: a value of kind u8 with 16 elements/),
  )
  assert.throws(() => defineType('a', 'a', { b: element('IF_NAME', chars(0)) }), sondeError('SCH_FIELD', /0 elements/))
  assert.throws(
    () => element('IPV4_SRC_ADR' as never),
    sondeError('SCH_ELEMENT', /"IPV4_SRC_ADR" is no information element; allowed: IPV4_SRC_ADDR\?/),
  )
  assert.throws(
    () => new BatchSource().batch(flow, [{ time: 1, from: '2001:db8::1', bytes: 1 }]),
    sondeError('SRC_VALUE', /flow\.from was given "2001:db8::1"; allowed: an IPv4 address such as 192\.0\.2\.1/),
  )
})

test('a type that does not fit a packet is refused before anything is sent', () => {
  const fields = Object.fromEntries(
    Array.from({ length: 20 }, (_, i) => [`f${i}`, element('APPLICATION_NAME', chars(64, { role: 'value' }))]),
  )
  const wide = defineType('wide', 'Too many fields', { time: timestamp(), ...fields })
  assert.throws(
    () => createNetflow({ packetBytesMax: 1000 }, [wide]),
    sondeError(
      'NFL_TEMPLATE',
      /^type wide needs packets of 1392 bytes for its template of 20 fields and one record; allowed: 1000; take fewer/,
    ),
  )
})

test('records of a type that does not fit a packet are dropped, and those of an honest neighbour are sent', async (t) => {
  const collector = await FlowCollector.start(t)
  const fields = Object.fromEntries(
    Array.from({ length: 20 }, (_, i) => [`f${i}`, element('APPLICATION_NAME', chars(64, { role: 'value' }))]),
  )
  const wide = defineType('wide', 'Too many fields', { time: timestamp(), ...fields })
  const texts = Object.fromEntries(Object.keys(fields).map((name) => [name, 'x']))
  const sink = createNetflow({ port: collector.port, packetBytesMax: 1000, lingerMs: 20 })
  t.after(() => sink.close())
  const honest = (port: number) => new BatchSource().batch(flow, [{ time: AT, from: port, bytes: port }])
  sink.accept(honest(1))
  sink.accept(new BatchSource().batch(wide, [{ time: AT, ...texts }] as never))
  sink.accept(honest(2))
  await sink.flush().catch(() => undefined)
  await until('the flows of the neighbour', () => collector.records.length === 2)
  assert.deepEqual([...sink.stats.dropped], [['encode_failed', 1]])
})

test('addresses are text where records are read, and no metric', async () => {
  const addresses = defineType('addresses', 'Addresses', {
    time: timestamp(),
    from: element('IPV4_SRC_ADDR'),
    next: element('IPV6_NEXT_HOP'),
    mac: element('IN_SRC_MAC'),
    bytes: element('IN_BYTES', counter('u64')),
  })
  const given = { from: '192.0.2.1', next: '2001:db8::1', mac: '02:00:5e:10:00:01', bytes: 7n }
  const batch = new BatchSource().batch(addresses, [{ time: AT, ...given }])
  const { time: _, ...read } = readRecord(addresses, viewsOf(batch.bytes), 0, batch.symbols)
  assert.deepEqual(read, given)
  const rig = new PrometheusRig()
  rig.view.accept(batch)
  assert.deepEqual(await rig.lines(), ['addresses_bytes 7'])
})
