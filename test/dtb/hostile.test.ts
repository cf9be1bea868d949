// Files that announce more than a reader can keep.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import {
  encodeFileHeader,
  encodeSymbolsBlock,
  encodeTypesBlock,
  schemaFingerprint,
} from '../../packages/sdk/src/wire/dtb/encode.ts'
import { BLOCK_TYPE } from '../../packages/sdk/src/wire/dtb/format.ts'
import { dtbBlock } from '../../packages/sdk/test/dtb-sample.ts'
import { SONDE_READ, temporaryFolder } from './sonde-read.ts'

/** More than a reader keeps: with those that there are ids for it would only take longer. */
const MANY = 4_400_000
const PER_BLOCK = 4000

/**
 * Verifies a file of such blocks with a heap of 320 MiB, in which nothing is left over: without a limit of its own the
 * process would be ended.
 */
function verify(t: TestContext, blocks: Iterable<Uint8Array>): { code: string; message: string } {
  const path = join(temporaryFolder(t), 'hostile.bin')
  const file = openSync(path, 'w')
  writeSync(file, encodeFileHeader({ fingerprint: schemaFingerprint([]), createdUs: 1n, writerId: 1n }))
  writeSync(file, encodeTypesBlock([]))
  for (const block of blocks) writeSync(file, block)
  closeSync(file)
  const [program, ...args] = SONDE_READ
  const heap = ['--max-old-space-size=320', ...args, '--verify', '--format', 'jsonl', path]
  const { status, signal, stdout, stderr } = spawnSync(program, heap, { encoding: 'utf8', timeout: 120_000 })
  assert.deepEqual([status, signal], [1, null], stderr)
  const { state, faults } = JSON.parse(stdout)
  assert.equal(state, 'damaged')
  return faults[0]
}

/** Every text is another one. */
function* smallBlocks(idAfter: (count: number) => number): Generator<Uint8Array> {
  for (let count = 0; count < MANY; count += PER_BLOCK) {
    const texts = Array.from({ length: PER_BLOCK }, (_, i) => (count + i).toString(36))
    yield encodeSymbolsBlock(idAfter(count), texts)
  }
}

test('millions of symbols in small blocks are too many, however their ids lie', (t) => {
  const places = [
    (count: number) => count + 1,
    (count: number) => 2 ** 30 - 1 - PER_BLOCK - count,
    (count: number) => 2 ** 30 + count,
  ]
  for (const idAfter of places) {
    const { code, message } = verify(t, smallBlocks(idAfter))
    assert.equal(code, 'DTB_LIMIT')
    assert.match(message, /^more symbols than a reader keeps; allowed: 4194304, and 134217728 characters$/)
  }
})

test('a block whose symbols are too many, or fewer than it says, takes no memory for them', (t) => {
  const empty = Buffer.alloc(8 + MANY * 4 - 8)
  empty.writeUInt32LE(1, 0)
  empty.writeUInt32LE(MANY - 2, 4)
  const { code, message } = verify(t, [dtbBlock(BLOCK_TYPE.symbols, empty)])
  assert.deepEqual([code, message], ['DTB_LIMIT', `a block of ${MANY - 2} symbols; allowed: 4194304`])
  const claim = Buffer.from(Uint32Array.of(1, 2 ** 32 - 2, 0, 0).buffer)
  assert.equal(verify(t, [dtbBlock(BLOCK_TYPE.symbols, claim)]).code, 'DTB_CONTENT')
})
