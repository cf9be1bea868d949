import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allocateViews, viewsOf } from './views.ts'

test('rounds memory up to whole u64 elements', () => {
  assert.deepEqual(
    [1, 8, 9].map((bytes) => allocateViews(bytes).u64.length),
    [1, 1, 2],
  )
})

test('sees the given bytes themselves where they lie on a multiple of 8', () => {
  const memory = new Uint8Array(32)
  const views = viewsOf(memory.subarray(8, 24))
  views.u32[0] = 7
  assert.equal(memory[8], 7)
})

test('copies bytes that lie elsewhere, or end where an element would not fit', () => {
  const memory = Uint8Array.from({ length: 20 }, (_, i) => i)
  for (const [from, to] of [
    [4, 12],
    [8, 20],
  ] as const) {
    const views = viewsOf(memory.subarray(from, to))
    assert.deepEqual([...views.bytes.subarray(0, to - from)], [...memory.subarray(from, to)])
    assert.equal(views.bytes.length % 8, 0)
    views.u8[0] = 99
    assert.equal(memory[from], from)
  }
})
