import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FlowDecoder, numberOf, textOf } from '../../../test/flow-decoder.ts'
import { property, sondeError } from '../../../test/helper.ts'
import { BatchSource } from '../../../test/sink-records.ts'
import { element } from '../../schema/element.ts'
import { ELEMENTS } from '../../schema/elements.ts'
import { array, chars, counter, optional, timestamp, value } from '../../schema/field.ts'
import { defineType, type RecordType } from '../../schema/record-type.ts'
import { FlowPackets, type PacketOptions, type PacketTime, RESERVED_IDS } from './packets.ts'
import type { FlowProtocol } from './protocol.ts'
import { templateOf } from './template.ts'
import { type FlowChunk, FlowTemplates } from './templates.ts'

const OPTIONS: PacketOptions = {
  protocol: 'v9',
  domainId: 111,
  packetBytesMax: 1452,
  templateRefreshPackets: 20,
  templateRefreshMs: 30_000,
  statistics: false,
}
const TIME: PacketTime = { nowMs: 0, wallMs: 1_800_000_000_500, bootMs: 1_799_999_000_000 }
const BOOT = { bootMs: TIME.bootMs, uptimeMsMax: 2 ** 32 }

const small = defineType('small', 'A flow', {
  time: timestamp(),
  from: element('IPV4_SRC_ADDR'),
  port: element('L4_SRC_PORT'),
  protocol: element('PROTOCOL'),
})

function templatesOf(options: PacketOptions, variableLength = false): FlowTemplates {
  return new FlowTemplates({ ...options, variableLength }, RESERVED_IDS)
}

/** Sends everything; `at` is called before each packet. */
function sendAll(
  packets: FlowPackets,
  chunks: readonly FlowChunk[],
  timeOf: (packet: number) => PacketTime = () => TIME,
) {
  const sent: Buffer[] = []
  for (let position = { chunk: 0, record: 0 }; position.chunk < chunks.length; ) {
    sent.push(Buffer.from(packets.next(chunks, position, timeOf(sent.length), 3)))
    position = packets.sent() ?? position
  }
  return sent
}

const AT = 1_800_000_000_000_000_000n
const RECORDS = [{ time: AT, from: '192.0.2.1', port: 53, protocol: 17 }]

test('golden packets of both protocols: header, template, record, padding', () => {
  const batch = new BatchSource().batch(small, RECORDS)
  const hex = (protocol: FlowProtocol) => {
    const options = { ...OPTIONS, protocol }
    return sendAll(new FlowPackets(options), templatesOf(options).encode(batch, BOOT)).map((each) =>
      each.toString('hex'),
    )
  }
  const template = '01010003' + '00080004' + '00070002' + '00040001'
  const data = '0101000c' + 'c0000201' + '0035' + '11' + '00'
  const seconds = (1_800_000_000).toString(16)
  const uptime = (1_000_000).toString(16).padStart(8, '0')
  assert.deepEqual(hex('v9'), [`00090002${uptime}${seconds}000000000000006f` + `00000014${template}` + data])
  assert.deepEqual(hex('ipfix'), [`000a0030${seconds}000000000000006f` + `00020014${template}` + data])
})

for (const protocol of ['v9', 'ipfix'] as const) {
  test(`${protocol}: every packet fits, templates come before data and again after 20 packets or 30 s, no gap in the sequence`, () => {
    const options = { ...OPTIONS, protocol, statistics: true }
    const [templates, packets, decoder] = [templatesOf(options), new FlowPackets(options), new FlowDecoder()]
    const batch = new BatchSource().batch(
      small,
      Array.from({ length: 20_000 }, (_, i) => ({ ...RECORDS[0], time: AT, from: i, port: i % 65_536, protocol: 6 })),
    )
    const sent = sendAll(packets, templates.encode(batch, BOOT), (n) => ({
      ...TIME,
      nowMs: n === 30 ? 31_000 : n > 30 ? 31_001 : n,
    }))
    const withTemplate: number[] = []
    const records = sent.flatMap((packet, i) => {
      assert.ok(packet.length <= 1452)
      const found = decoder.decode(packet)
      if (decoder.lastTemplates.includes(257)) withTemplate.push(i)
      return found
    })
    assert.deepEqual([decoder.sequenceErrors, decoder.unknownSets], [0, 0])
    assert.deepEqual(withTemplate.slice(0, 4), [0, 20, 30, 50])
    const flows = records.filter(({ isOption }) => !isOption)
    assert.deepEqual(
      flows.map(({ fields }) => Number(numberOf(fields.get(8)))),
      Array.from({ length: 20_000 }, (_, i) => i),
    )
    const [first, second] = records.filter(({ isOption }) => isOption)
    assert.deepEqual(
      [...(first?.fields ?? [])].map(([id, hex]) => [id, Number(numberOf(hex))]),
      [
        [protocol === 'v9' ? 1 : 149, 111],
        [41, 0],
        [42, 0],
        [40, 0],
        [166, 3],
      ],
    )
    assert.equal(Number(numberOf(second?.fields.get(41))), 30)
  })
}

test('times since boot stay in v9, and are absolute in IPFIX, also across the wrap of the uptime', () => {
  const type = defineType('t', 'Times', {
    time: timestamp(),
    first: element('FIRST_SWITCHED'),
    last: element('LAST_SWITCHED'),
  })
  const batch = new BatchSource().batch(type, [{ time: AT, first: 2 ** 32 - 1, last: 999 }])
  const fieldsOf = (protocol: FlowProtocol) => {
    const options = { ...OPTIONS, protocol }
    const [packet] = sendAll(
      new FlowPackets(options),
      templatesOf(options).encode(batch, { bootMs: 5e12, uptimeMsMax: 2 ** 31 }),
    )
    return [...(new FlowDecoder().decode(packet ?? Buffer.alloc(0))[0]?.fields ?? [])].map(([id, hex]) => [
      id,
      Number(numberOf(hex)),
    ])
  }
  assert.deepEqual(fieldsOf('v9'), [
    [22, 2 ** 32 - 1],
    [21, 999],
  ])
  assert.deepEqual(fieldsOf('ipfix'), [
    [152, 5e12 - 1],
    [153, 5e12 + 999],
  ])
})

test('an absent field has no place in the template, and texts may have their own length', () => {
  const type = defineType('o', 'Optional', {
    time: timestamp(),
    name: element('IF_NAME', chars(300, { role: 'value' })),
    vlan: optional(element('SRC_VLAN')),
  })
  const names = ['', 'eth0', 'x'.repeat(254), 'y'.repeat(255), 'z'.repeat(299)]
  const batch = new BatchSource().batch(
    type,
    names.map((name, i) => ({ time: AT, name, vlan: i % 2 === 0 ? i : undefined })),
  )
  const options = { ...OPTIONS, protocol: 'ipfix' } as const
  const decoder = new FlowDecoder()
  const records = sendAll(new FlowPackets(options), templatesOf(options, true).encode(batch, BOOT)).flatMap((packet) =>
    decoder.decode(packet),
  )
  assert.deepEqual(
    records.map(({ fields }) => [textOf(fields.get(82)), fields.get(58)]),
    names.map((name, i) => [name, i % 2 === 0 ? `000${i}` : undefined]),
  )
  assert.equal(decoder.sequenceErrors, 0)
})

test('a template needs an id from 256 on and a packet that holds it with a record', () => {
  const options = { protocol: 'v9', packetBytesMax: 512, variableLength: false } as const
  assert.throws(
    () => templateOf(small, 255, options),
    sondeError('NFL_TEMPLATE', /^the id of a template is 255; allowed: 256 to 65535$/),
  )
  const wide = defineType('wide', 'Wide', { time: timestamp(), text: element('USER_NAME', chars(480)) })
  assert.throws(
    () => templateOf(wide, 256, options),
    sondeError('NFL_TEMPLATE', /type wide needs packets of 516 bytes/),
  )
})

test('has all 453 constants of the guide, each once, with addresses of the right size', () => {
  const ids = Object.values(ELEMENTS).flatMap((group) => Object.values(group))
  assert.deepEqual([ids.length, new Set(ids).size, Math.min(...ids), Math.max(...ids)], [453, 453, 1, 489])
  assert.equal(element('EXPORTER_IPV6_ADDRESS').count, 16)
  assert.equal(element('POST_NATSOURCE_IPV6_ADDRESS').count, 16)
})

const KINDS = { u8: 1, u16: 2, u32: 4, u64: 8 } as const

property('any type with any records is decoded as it was reported', 60, (random) => {
  const fields: RecordType['fields'] = Object.fromEntries(
    Array.from({ length: random.integer(1, 12) }, (_, i) => {
      const kind = random.pick(Object.keys(KINDS) as (keyof typeof KINDS)[])
      const form = random.pick(['number', 'bytes', 'text'])
      const field =
        form === 'number'
          ? { ...counter(kind), element: 1000 + i }
          : form === 'bytes'
            ? { ...array(value('u8'), random.integer(2, 40)), element: 1000 + i }
            : { ...chars(random.integer(2, 40), { role: 'value' }), element: 1000 + i }
      return [`f${i}`, field]
    }),
  )
  const type = defineType('any', 'Any', { time: timestamp(), ...fields })
  const records = Array.from({ length: random.integer(1, 80) }, () =>
    Object.fromEntries([
      ['time', AT],
      ...Object.entries(type.fields)
        .slice(1)
        .map(([name, field]) => {
          if (field.kind === 'char') return [name, 'a'.repeat(random.integer(0, field.count - 1))]
          if (field.count > 1) return [name, Array.from({ length: field.count }, () => random.integer(0, 255))]
          return [name, random.integer(0, Math.min(2 ** 48, 256 ** KINDS[field.kind as 'u8'] - 1))]
        }),
    ]),
  )
  const options = { ...OPTIONS, packetBytesMax: 1024, protocol: random.pick(['v9', 'ipfix'] as const) }
  const batch = new BatchSource().batch(type, records as never)
  const decoder = new FlowDecoder()
  const decoded = sendAll(
    new FlowPackets(options),
    templatesOf(options, random.integer(0, 1) === 1).encode(batch, BOOT),
  ).flatMap((packet) => decoder.decode(packet))
  const shown = decoded.map(({ fields }) => [...fields.values()].map((hex) => hex.replace(/^(00)+|(00)+$/g, '')).join())
  const wanted = records.map((record) =>
    Object.values(record)
      .slice(1)
      .map((each) => {
        const hex =
          typeof each === 'number' ? each.toString(16).padStart(16, '0') : Buffer.from(each as never).toString('hex')
        return hex.replace(/^(00)+|(00)+$/g, '')
      })
      .join(),
  )
  assert.deepEqual(shown, wanted)
  assert.deepEqual([decoder.sequenceErrors, decoder.unknownSets], [0, 0])
})
