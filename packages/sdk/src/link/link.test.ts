import assert from 'node:assert/strict'
import { test } from 'node:test'
import { anyRecord, anyType } from '../../test/any-type.ts'
import { property, sondeError } from '../../test/helper.ts'
import type { Random } from '../../test/random.ts'
import { type Batch, createSource, lossType, type RecordType, readRecords, viewsOf } from '../index.ts'
import { TEXT_ID_MIN } from '../schema/texts.ts'
import type { LinkItem, LinkLimits } from './item.ts'
import { LinkReader } from './reader.ts'
import { LinkWriter } from './writer.ts'

const LIMITS = { types: 40, sources: 40, symbols: 10_000, bytes: 8 << 20 }
const CODES = { item: 'LNK_TEST_ITEM', limit: 'LNK_TEST_LIMIT' }

function readerOf(limits: LinkLimits = LIMITS): LinkReader {
  return new LinkReader({ limits, codes: CODES, origin: 'client' })
}

function recordsOf({ type, bytes, count, symbols }: Batch): unknown[] {
  return [...readRecords(type, viewsOf(bytes.slice()), count, symbols)]
}

/** Sources that report random records of random types; texts of small tables, so that these are replaced. */
class Reporters {
  readonly batches: Batch[] = []
  readonly #random: Random
  readonly #types: readonly RecordType[]
  readonly #sources

  constructor(random: Random) {
    this.#random = random
    this.#types = Array.from({ length: random.integer(1, 4) }, () => anyType(random))
    this.#sources = Array.from({ length: random.integer(1, 4) }, (_, i) =>
      createSource({
        id: `s${i}`,
        labels: { of: `${i}` },
        textLimit: random.integer(1, 20),
        emit: (batch) => void this.batches.push({ ...batch, bytes: batch.bytes.slice() }),
      }),
    )
  }

  report(): void {
    const source = this.#random.pick(this.#sources)
    const type = this.#random.pick(this.#types)
    const timeMs = 1_800_000_000_000 + this.#random.integer(0, 1e6)
    for (let i = this.#random.integer(1, 20); i > 0; i--) source.report(type, anyRecord(this.#random, type, timeMs))
    if (this.#random.chance(0.7)) source.emit()
  }
}

property('what one end puts in the other gives back', 60, (random) => {
  const reporters = new Reporters(random)
  const writer = new LinkWriter(LIMITS)
  let reader = readerOf()
  for (let step = 0; step < 60; step++) {
    reporters.report()
    if (random.chance(0.05)) {
      writer.forget()
      reader.close()
      assert.equal(reader.heldBytes, 0)
      reader = readerOf()
    }
    for (const batch of reporters.batches.splice(0)) {
      const given: Batch[] = []
      const refusal = writer.put(batch, (item) => {
        const taken = reader.take(item)
        if (typeof taken === 'object') given.push(taken)
      })
      assert.equal(refusal, undefined)
      const [back] = given
      assert.ok(back !== undefined && given.length === 1)
      assert.deepEqual(recordsOf(back), recordsOf(batch))
      const { id, tag, labels } = back.source
      assert.deepEqual({ id, tag, labels }, { id: batch.source.id, tag: batch.source.tag, labels: batch.source.labels })
      assert.deepEqual([back.type.fingerprint, back.clock, back.origin], [batch.type.fingerprint, 'wall', 'client'])
    }
  }
})

property(
  'what cannot be is refused with the codes of the transport, and costs no more than the limits',
  200,
  (random) => {
    const reader = readerOf({ types: 3, sources: 3, symbols: 20, bytes: 20_000 })
    const info = () => ({
      id: random.pick(['a', '']),
      tag: '',
      labels: random.pick([{}, { simulated: 'true' }, { '0': 'x' }]),
      intervalMs: 0,
    })
    const key = () => random.integer(0, 4)
    const items: readonly (() => LinkItem)[] = [
      () => ({
        kind: 'type',
        key: key(),
        fingerprint: random.pick([lossType.fingerprint, 'none']),
        definition: random.pick([{}, null, []]),
      }),
      () => ({ kind: 'source', key: key(), info: info(), replaces: random.pick([undefined, undefined, key()]) }),
      () => ({ kind: 'gone', source: key() }),
      () => ({
        kind: 'symbols',
        source: key(),
        firstId: random.pick([0, 1, TEXT_ID_MIN, 2 ** 31]),
        texts: Array(random.integer(0, 40)).fill('x'.repeat(random.pick([1, 100, 5000]))),
      }),
      () => ({
        kind: 'batch',
        type: key(),
        source: key(),
        clock: 'wall',
        count: random.integer(0, 3),
        bytes: new Uint8Array(random.integer(0, 9)),
      }),
    ]
    for (let step = 0; step < 100; step++) {
      try {
        assert.notEqual(typeof reader.take(random.pick(items)()), 'object')
      } catch (error) {
        assert.match((error as { code: string }).code, /^(LNK_TEST_(ITEM|LIMIT)|SCH_DEFINITION)$/)
      }
      assert.ok(reader.heldBytes >= 0 && reader.heldBytes <= 20_000, `${reader.heldBytes}`)
    }
  },
)

test('a source that replaces another frees what that one held, and goes on with its series', () => {
  const reader = readerOf({ ...LIMITS, sources: 1, symbols: 10 })
  const info = { id: 'a', tag: '', labels: {}, intervalMs: 0 }
  reader.take({ kind: 'source', key: 0, info })
  const { owner } = reader.source(0).info
  const texts = Array.from({ length: 42 }, (_, i) => `text ${i}`)
  reader.take({ kind: 'symbols', source: 0, firstId: 0, texts })
  const heldBytes = reader.heldBytes
  for (let key = 1; key < 1000; key++) {
    reader.take({ kind: 'source', key, info, replaces: key - 1 })
    reader.take({ kind: 'symbols', source: key, firstId: 0, texts })
    assert.equal(reader.heldBytes, heldBytes)
    assert.throws(() => reader.source(key - 1), sondeError('LNK_TEST_ITEM', /was not announced/))
    assert.equal(reader.source(key).info.owner, owner)
  }
})
