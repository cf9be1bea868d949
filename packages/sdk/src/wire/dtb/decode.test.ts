import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crc32, deflateRawSync } from 'node:zlib'
import { dtbInput } from '../../../test/dtb-input.ts'
import { sampleFile } from '../../../test/dtb-sample.ts'
import { Random } from '../../../test/random.ts'
import { absenceType } from '../../schema/builtin.ts'
import { DtbDecoder, type DtbDecoderOptions, type DtbEnd, type DtbStep } from './decode.ts'
import {
  encodeEndBlock,
  encodeFileHeader,
  encodeOriginBlock,
  encodeSourceBlock,
  encodeSymbolsBlock,
  encodeTypesBlock,
  schemaFingerprint,
  typeEntry,
} from './encode.ts'
import { DTB_LIMITS } from './format.ts'

const HEADER = encodeFileHeader({ fingerprint: schemaFingerprint([absenceType]), createdUs: 5n, writerId: 9n })
const SOURCE = encodeSourceBlock({
  id: 'a',
  tag: '',
  labels: {},
  schema: '',
  host: '',
  pid: 1,
  version: '1',
})
const TYPES = encodeTypesBlock([typeEntry(absenceType, 0)])

/** A block of anything, with right checksums. */
function block(blockType: number, payload: Uint8Array, change: (header: Buffer) => void = () => undefined): Uint8Array {
  const whole = Buffer.alloc(64 + Math.ceil(payload.length / 8) * 8)
  whole.write('DTBK')
  whole.writeUInt8(blockType, 4)
  whole.writeUInt32LE(payload.length, 8)
  whole.writeUInt32LE(payload.length, 12)
  whole.set(payload, 64)
  whole.writeUInt32LE(crc32(payload), 56)
  change(whole)
  whole.writeUInt32LE(crc32(whole.subarray(0, 60)), 60)
  return whole
}

function steps(parts: readonly Uint8Array[], options?: DtbDecoderOptions): { steps: DtbStep[]; end: DtbEnd } {
  const decoder = new DtbDecoder(dtbInput(Buffer.concat(parts)), options)
  const found: DtbStep[] = []
  for (;;) {
    const step = decoder.next()
    if (step.kind === 'stop') return { steps: found, end: step.end }
    found.push(step)
  }
}

function faultOf(...parts: Uint8Array[]): string | undefined {
  const { end } = steps([HEADER, ...parts])
  assert.equal(end.state, 'damaged')
  return end.fault?.code
}

test('a later minor version and a type of block that it added are skipped; another major version is refused', () => {
  const later = Buffer.from(HEADER)
  later.writeUInt16LE(7, 10)
  later.writeUInt32LE(crc32(later.subarray(0, 60)), 60)
  const { steps: found, end } = steps([later, TYPES, SOURCE, block(77, Buffer.from('later')), encodeEndBlock()])
  assert.deepEqual([found.length, end.state], [4, 'ended'])
  later.writeUInt16LE(2, 8)
  later.writeUInt32LE(crc32(later.subarray(0, 60)), 60)
  assert.equal(steps([later, TYPES]).end.fault?.code, 'DTB_FILE')
})

test('a file that is written reads on where it stopped, whole blocks only', () => {
  const whole = Buffer.concat([HEADER, TYPES, SOURCE, encodeEndBlock()])
  let bytes = 0
  const decoder = new DtbDecoder({
    get bytes() {
      return bytes
    },
    read: (at, wanted) => whole.subarray(at, Math.min(bytes, at + wanted)),
  })
  let blocks = 0
  for (; bytes <= whole.length; bytes++) {
    const step = decoder.next()
    if (step.kind === 'block') blocks++
    else assert.ok(step.kind === 'stop' && ['open', 'truncated', 'ended'].includes(step.end.state))
  }
  assert.equal(blocks, 3)
})

test('what follows the end is told, and read only where it is salvaged', () => {
  assert.equal(faultOf(TYPES, SOURCE, encodeEndBlock(), SOURCE), 'DTB_BLOCK')
  const { steps: found } = steps([HEADER, TYPES, encodeEndBlock(), SOURCE], { salvage: true })
  assert.deepEqual(
    found.map(({ kind }) => kind),
    ['block', 'block', 'block'],
  )
})

test('content that cannot be does not hold', () => {
  const json = (value: unknown) => Buffer.from(JSON.stringify(value))
  const entry = typeEntry(absenceType, 0)
  assert.equal(faultOf(block(1, Buffer.from('{'))), 'DTB_CONTENT')
  assert.equal(faultOf(block(1, Buffer.from([0xff]))), 'DTB_CONTENT')
  assert.equal(faultOf(block(1, json([{ ...entry, index: 256 }]))), 'DTB_CONTENT')
  assert.equal(faultOf(block(1, json([{ ...entry, fingerprint: '0'.repeat(32) }]))), 'DTB_CONTENT')
  assert.equal(faultOf(block(1, json([{ ...entry, definition: null }]))), 'DTB_CONTENT')
  assert.equal(faultOf(TYPES, SOURCE, SOURCE), 'DTB_CONTENT')
  assert.equal(faultOf(TYPES, block(2, json({ id: 7 }))), 'DTB_CONTENT')
  assert.equal(faultOf(encodeSymbolsBlock(1, ['a']), encodeSymbolsBlock(0, ['', 'b'])), 'DTB_CONTENT')
  assert.equal(faultOf(block(4, Buffer.alloc(7))), 'DTB_CONTENT')
  assert.equal(faultOf(block(4, Buffer.from([0, 0, 0, 0, 255, 255, 255, 255]))), 'DTB_CONTENT')
  assert.equal(faultOf(block(3, Buffer.alloc(8))), 'DTB_CONTENT')
  const records = block(3, Buffer.alloc(absenceType.layout.recordBytes), (header) => {
    header.writeUInt32LE(1, 16)
    header.writeUInt32LE(absenceType.layout.recordBytes, 20)
  })
  assert.equal(faultOf(TYPES, records), 'DTB_CONTENT')
  assert.equal(steps([HEADER, TYPES, SOURCE, records]).steps.at(-1)?.kind, 'records')
})

test('limits hold whatever a file says of itself', () => {
  const huge = block(3, Buffer.alloc(8), (header) => header.writeUInt32LE((64 << 20) + 1, 8))
  assert.equal(faultOf(huge), 'DTB_LIMIT')
  assert.equal(faultOf(block(1, Buffer.from('['.repeat(100_000)))), 'DTB_LIMIT')
  const bomb = block(77, deflateRawSync(Buffer.alloc(32 << 20)), (header) => {
    header.writeUInt8(1, 5)
    header.writeUInt32LE(1000, 12)
  })
  assert.equal(faultOf(bomb), 'DTB_PAYLOAD')
  const short = block(77, deflateRawSync(Buffer.alloc(10)), (header) => {
    header.writeUInt8(1, 5)
    header.writeUInt32LE(1000, 12)
  })
  assert.equal(faultOf(short), 'DTB_PAYLOAD')
})

test('records that are not wanted are passed over, with what their header says', async () => {
  const { bytes } = await sampleFile(new Random(3), 60)
  const all = steps([bytes]).steps.filter(({ kind }) => kind === 'records').length
  let asked = 0
  const few = steps([bytes], { wants: () => asked++ % 2 === 0 }).steps.filter(({ kind }) => kind === 'records').length
  assert.ok(all > 4)
  assert.deepEqual([asked, few], [all, Math.ceil(all / 2)])
})

test('records of a page bear its client and sequence', async () => {
  const { bytes } = await sampleFile(new Random(3), 60)
  for (const step of steps([bytes]).steps) {
    if (step.kind !== 'records') continue
    const { client, pageSequence } = step.header
    assert.deepEqual(step.batch.page, client === 0n ? undefined : { client, sequence: pageSequence })
  }
})

/** A record of nothing but zeros. */
const RECORD = block(3, Buffer.alloc(absenceType.layout.recordBytes), (header) => {
  header.writeUInt32LE(1, 16)
  header.writeUInt32LE(absenceType.layout.recordBytes, 20)
})
const entry = (id: string) => ({ id, tag: '', labels: {}, schema: '', host: '', pid: 0, version: '' })

test('records are of the origin before them; one that is lost leaves them with nobody', () => {
  const origin = (id: string) => encodeOriginBlock(entry(id))
  const file = encodeSourceBlock({ ...entry('file'), hasOrigins: true })
  const parts = [HEADER, TYPES, file, RECORD, origin('a'), RECORD, origin('b'), RECORD, origin('a'), RECORD]
  const sourcesOf = (all: readonly Uint8Array[], options?: DtbDecoderOptions) =>
    steps(all, options).steps.flatMap((step) => (step.kind === 'records' ? [step.batch.source] : []))
  const sources = sourcesOf(parts)
  assert.deepEqual(
    sources.map(({ id }) => id),
    ['file', 'a', 'b', 'a'],
  )
  assert.equal(sources[1], sources[3], 'views go by the identity of a source')
  const damaged = parts.map((part, at) => (at === 6 ? Uint8Array.from(part).fill(0xff, 64, 72) : part))
  assert.deepEqual(
    sourcesOf(damaged, { salvage: true }).map(({ id }) => id),
    ['file', 'a', '?', 'a'],
  )
})

test('a file names no more origins than the limit says', () => {
  const origins = Array.from({ length: DTB_LIMITS.originCount + 1 }, (_, index) =>
    encodeOriginBlock(entry(`s${index}`)),
  )
  assert.equal(steps([HEADER, TYPES, SOURCE, ...origins.slice(1), ...origins.slice(1)]).end.state, 'open')
  assert.equal(steps([HEADER, TYPES, SOURCE, ...origins]).end.fault?.code, 'DTB_LIMIT')
  assert.equal(faultOf(TYPES, SOURCE, block(6, Buffer.from('{"id":1}'))), 'DTB_CONTENT')
})
