import assert from 'node:assert/strict'
import { test } from 'node:test'
import { property, recordingSource, sondeError } from '../../test/helper.ts'
import { readRecord } from '../schema/reader.ts'
import { viewsOf } from '../schema/views.ts'
import { maxOpaqueBytes, type OpaqueEvent, opaqueTypes, readOpaque, reportOpaque } from './opaque.ts'
import { createSchema } from './schema.ts'

const APP = '9910c128-3961-47e6-be6c-715a0f03add6'
const T0 = 1_800_000_000_000_000_000n

property('what is reported is read back from the bytes, whatever its length', 40, (random) => {
  const { source, emitted } = recordingSource({ bufferBytes: 1 << 17 })
  const size = random.pick([0, 1, 32, 33, 96, 97, random.integer(0, 65_504), 65_504])
  const data = Uint8Array.from({ length: size }, () => random.integer(0, 255))
  const event = { appId: APP, userDefined1: random.bits64(), userDefined2: random.bits64(), data, time: T0 }
  reportOpaque(source, event)
  source.flush()
  const [{ type, bytes, symbols }] = emitted as [(typeof emitted)[number]]
  assert.equal(type.layout.recordBytes, Number(type.name.slice('sonde_opaque_'.length)))
  assert.ok(type.layout.recordBytes === 64 || type.layout.recordBytes / 2 < size + 32, 'the smallest that holds it')
  assert.deepEqual(readOpaque(readRecord(type, viewsOf(bytes), 0, symbols)), event)
})

test('an application is named by 16 bytes or by text, and read back as text in lower case', () => {
  const { source, emitted } = recordingSource()
  const bytes = Uint8Array.from(Buffer.from(APP.replaceAll('-', ''), 'hex'))
  for (const appId of [bytes, APP.toUpperCase()]) reportOpaque(source, { appId, data: new Uint8Array(1) })
  source.flush()
  const events = emitted.flatMap(({ records }) => records.map(readOpaque))
  assert.deepEqual(
    events.map(({ appId, userDefined1, userDefined2 }) => [appId, userDefined1, userDefined2]),
    [
      [APP, 0n, 0n],
      [APP, 0n, 0n],
    ],
  )
})

test('data that the buffer has no room for is refused with the limit and the size to set', () => {
  for (const [bufferBytes, limit] of [
    [60_000, 32_736],
    [65_536, 65_504],
    [1 << 20, 65_504],
    [64, 32],
    [63, 0],
  ] as const) {
    const { source, emitted } = recordingSource({ bufferBytes })
    assert.equal(maxOpaqueBytes(source), limit)
    const report = (size: number) => reportOpaque(source, { appId: APP, data: new Uint8Array(size) })
    const advice = limit < 65_504 ? `bufferBytes .* at least ${Math.max(64, (limit + 32) * 2)}` : 'cut it into several'
    assert.throws(() => report(limit + 1), sondeError('OPQ_SIZE', new RegExp(`at most ${limit}: .*${advice}`)))
    if (limit > 0) report(limit)
    source.flush()
    assert.equal(emitted.length, limit > 0 ? 1 : 0)
  }
})

test('what is no event is refused, and nothing is reported', () => {
  const { source, emitted } = recordingSource()
  const data = new Uint8Array(1)
  const wrongs: readonly [object, string][] = [
    [{ data }, 'OPQ_VALUE'],
    [{ appId: '9910c128', data }, 'OPQ_VALUE'],
    [{ appId: `${APP}0`, data }, 'OPQ_VALUE'],
    [{ appId: new Uint8Array(15), data }, 'OPQ_VALUE'],
    [{ appId: APP }, 'OPQ_VALUE'],
    [{ appId: APP, data: [1] }, 'OPQ_VALUE'],
    [{ appId: APP, data, userDefined1: -1 }, 'SRC_VALUE'],
    [{ appId: APP, data, userDefined2: 2n ** 64n }, 'SRC_VALUE'],
    [{ appId: APP, data, time: 0 }, 'SRC_VALUE'],
  ]
  for (const [event, code] of wrongs)
    assert.throws(
      () => reportOpaque(source, event as OpaqueEvent),
      sondeError(code),
      JSON.stringify(Object.keys(event)),
    )
  source.flush()
  assert.deepEqual(emitted, [])
})

test('another record, and one that says it has more data than it holds, is no event', () => {
  const { source, emitted } = recordingSource()
  reportOpaque(source, { appId: APP, data: new Uint8Array(1) })
  source.flush()
  const [record] = emitted[0]?.records ?? []
  for (const wrong of [{}, { ...record, size: 33 }, { ...record, data: 1 }, { ...record, time: 'now' }])
    assert.throws(() => readOpaque(wrong), sondeError('OPQ_VALUE'))
})

test('the source of a schema takes opaque events only where the schema does', async () => {
  const event = { appId: APP, data: new Uint8Array(8) }
  const closed = createSchema({ name: 'app' })
  await closed.start()
  const refusing = closed.createSource({ tag: 't' })
  assert.throws(() => reportOpaque(refusing, event), sondeError('OPQ_DISABLED', /opaqueEvents: true/))
  const open = createSchema({ name: 'app', opaqueEvents: true })
  await open.start()
  reportOpaque(open.createSource({ tag: 't' }), event)
  await Promise.all([closed.close(), open.close()])
})

test('opaque events make no metric, and their types are told apart by the bytes of a record', () => {
  assert.deepEqual(
    opaqueTypes.map(({ layout, metrics }) => [layout.recordBytes, metrics.size]),
    [64, 128, 256, 512, 1024, 2048, 4096, 8192, 16_384, 32_768, 65_536].map((bytes) => [bytes, 0]),
  )
})

test('an event or a source that is none is named', () => {
  const { source } = recordingSource()
  const call = (...given: unknown[]) => Reflect.apply(reportOpaque, undefined, given)
  assert.throws(() => call(source), sondeError('OPQ_VALUE', /^an opaque event is undefined; allowed: an object with/))
  assert.throws(() => call({}, { appId: APP }), sondeError('OPQ_VALUE', /^the source of an opaque event is an object/))
})
