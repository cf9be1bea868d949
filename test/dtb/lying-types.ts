// Files whose types were made up by somebody who knows the format: fingerprints and checksums are right, and the
// definitions may be anything.
import { createHash } from 'node:crypto'
import { definitionOf } from '@sonde/sdk/internal'
import { canonicalJson } from '../../packages/sdk/src/schema/fingerprint.ts'
import { encodeFileHeader, encodeSourceBlock } from '../../packages/sdk/src/wire/dtb/encode.ts'
import { BLOCK_TYPE } from '../../packages/sdk/src/wire/dtb/format.ts'
import { dtbBlock } from '../../packages/sdk/test/dtb-sample.ts'
import type { Random } from '../../packages/sdk/test/random.ts'
import { EVERY_KIND } from './every-kind.ts'

const HEADER = encodeFileHeader({ fingerprint: '0'.repeat(32), createdUs: 0n, writerId: 1n })
const SOURCE = encodeSourceBlock({
  id: 'liar',
  tag: '',
  labels: {},
  schema: '',
  host: '',
  pid: 0,
  version: '',
})
const VALUES = [
  null,
  true,
  false,
  0,
  1,
  -1,
  2,
  1.5,
  65_535,
  65_536,
  1e21,
  '',
  'u8',
  'record',
  'symbol',
  'char',
  'timestamp',
  '__proto__',
  'constructor',
  [],
  {},
  [[]],
  [1, 2],
]
const KEYS = [
  'name',
  'kind',
  'role',
  'count',
  'optional',
  'resolution',
  'edges',
  'fields',
  'layout',
  'toString',
  '__proto__',
  'later',
]

/** A file of one type, a definition of ours with some of it replaced, and records of random bytes. */
export function lyingTypes(random: Random): Uint8Array {
  const type = random.pick(EVERY_KIND)
  const { layout } = type
  const definition = JSON.parse(JSON.stringify(definitionOf(type)))
  for (let i = random.integer(0, 3); i > 0; i--) change(random, definition)
  const fingerprint = createHash('sha256').update(canonicalJson(definition)).digest('hex').slice(0, 32)
  const types = dtbBlock(BLOCK_TYPE.types, Buffer.from(JSON.stringify([{ index: 0, fingerprint, definition }])))
  const recordBytes = layout.recordBytes + (random.chance(0.5) ? 0 : random.integer(-8, 64))
  const count = random.integer(0, 4)
  const payload = Buffer.from(Array.from({ length: Math.max(0, recordBytes) * count }, () => random.integer(0, 255)))
  const records = dtbBlock(BLOCK_TYPE.records, payload, { count, recordBytes: Math.max(0, recordBytes) })
  return Buffer.concat([HEADER, types, SOURCE, records])
}

/** Replaces, adds or takes away one value somewhere. */
function change(random: Random, root: unknown): void {
  let at = root
  for (;;) {
    const inner = Object.values(at as object).filter((value) => value !== null && typeof value === 'object')
    if (inner.length === 0 || random.chance(0.3)) break
    at = random.pick(inner)
  }
  const object = at as Record<string, unknown>
  const key = random.pick(random.chance(0.8) ? [...Object.keys(object), '0'] : KEYS)
  if (random.chance(0.1)) delete object[key]
  else {
    const value = structuredClone(random.pick([...VALUES, Object.hasOwn(object, key) ? object[key] : 0]))
    // Not assigned: as a key of JSON, `__proto__` is one like any other.
    Object.defineProperty(object, key, { value, configurable: true, enumerable: true, writable: true })
  }
}
