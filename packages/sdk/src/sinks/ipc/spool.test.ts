import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crc32 } from 'node:zlib'
import { property } from '../../../test/helper.ts'
import { BatchSource } from '../../../test/sink-records.ts'
import { blockBytes } from './blocks.ts'
import { HEADROOM_BYTES, Spool, spooledBytes } from './spool.ts'

const source = new BatchSource()
const batchOf = (bytes: number) => ({ ...source.ports({}), count: bytes, bytes: Buffer.alloc(bytes, bytes % 251) })

property(
  'a spool is a list: whatever is added, taken and removed, each page is the one of its number',
  100,
  (random) => {
    const spool = new Spool(64 << 20)
    const expected = new Map<number, number>()
    let next = 1
    for (let step = 0; step < 3000; step++) {
      if (random.chance(0.55)) {
        const bytes = random.pick([1, 200, 3000, 70_000])
        spool.add(batchOf(bytes), { countedRecords: 1 })
        expected.set(next++, bytes)
      } else if (random.chance(0.8) && spool.first < spool.next) {
        const { first } = spool
        assert.equal(spool.shift(), expected.delete(first) ? 1 : 0)
      } else {
        const page = spool.get(random.integer(spool.first, spool.next))
        if (page !== undefined) assert.equal(spool.remove(page), expected.delete(page.sequence) ? 1 : 0)
      }
      assert.equal(spool.next, next)
    }
    for (let sequence = 0; sequence < next + 3; sequence++) {
      const page = spool.get(sequence)
      assert.equal(page?.byteLength, expected.get(sequence))
      if (page === undefined) continue
      const records = page.block.subarray(HEADROOM_BYTES, HEADROOM_BYTES + page.byteLength)
      assert.deepEqual(
        [page.sequence, page.crc, crc32(records)],
        [sequence, crc32(batchOf(page.byteLength).bytes), page.crc],
      )
    }
    assert.equal(spool.records, expected.size)
    const bytes = [...expected.values()].reduce((total, each) => total + spooledBytes(batchOf(each)), 0)
    assert.equal(spool.bytes, bytes)
    assert.equal(spool.first, Math.min(next, ...expected.keys()))
  },
)

test('memory of a page that a socket still has is not given to the next page', () => {
  const spool = new Spool(64 << 20)
  spool.add(batchOf(100_000), { countedRecords: 1 })
  const page = spool.get(1)
  assert.ok(page)
  page.writes++
  spool.shift()
  spool.add(batchOf(99_999), { countedRecords: 1 })
  assert.notEqual(spool.get(2)?.block.buffer, page.block.buffer)
  spool.shift()
  spool.add(batchOf(100_000), { countedRecords: 1 })
  assert.notEqual(spool.get(3)?.block.buffer, page.block.buffer)
})

test('all memory that leaves and comes is used again; less is kept of what is not under way', () => {
  const spool = new Spool(64 << 20)
  const pages = 1000
  const fill = () => {
    const from = spool.next
    for (let i = 0; i < pages; i++) spool.add(batchOf(60_000), { countedRecords: 1 })
    return new Set(Array.from({ length: pages }, (_, i) => spool.get(from + i)?.block.buffer))
  }
  const drainTo = (left: number) => {
    while (spool.next - spool.first > left) spool.shift()
  }
  const first = fill()
  drainTo(1)
  const second = fill()
  assert.equal(second.intersection(first).size, pages - 1)
  drainTo(0)
  const third = fill()
  assert.equal(third.intersection(second.union(first)).size, (8 << 20) / blockBytes(HEADROOM_BYTES + 60_000))
})

test('blocks are powers of two', () => {
  assert.deepEqual([0, 1, 256, 257, 65_536, 65_537, 1 << 20].map(blockBytes), [
    256,
    256,
    256,
    512,
    65_536,
    131_072,
    1 << 20,
  ])
})
