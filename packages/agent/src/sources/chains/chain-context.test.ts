import assert from 'node:assert/strict'
import fs from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { DENIES } from '../test-damage.ts'
import { TestNode } from '../test-node.ts'
import { KernelContext, ReadRefusal } from './chain-context.ts'

function bringUp(t: TestContext): { node: TestNode; context: KernelContext; at: (path: string) => string } {
  const node = new TestNode(t)
  return { node, context: new KernelContext(node.paths), at: (path) => join(node.root, path) }
}

function codeOf(answer: unknown): string {
  assert.ok(answer instanceof ReadRefusal, `refused: ${String(answer)}`)
  return `${answer.kind} ${answer.code}`
}

test('reads a file, lists a folder sorted, and returns the last part of the target of a link', async (t) => {
  const { node, context, at } = bringUp(t)
  node.write('sys/a/state', ' 4: ACTIVE \n')
  node.write('sys/a/b', '')
  node.link('sys/a/driver', '../../bus/pci/drivers/mlx5_core')
  assert.equal(String(await context.read(at('sys/a/state'))), ' 4: ACTIVE \n')
  assert.deepEqual(await context.list(at('sys/a')), ['b', 'driver', 'state'])
  assert.equal(await context.target(at('sys/a/driver')), 'mlx5_core')
})

test('a missing file, a file instead of a folder, and a file instead of a link are refused with their codes', async (t) => {
  const { node, context, at } = bringUp(t)
  node.write('sys/a', '1')
  assert.equal(codeOf(await context.read(at('sys/b'))), 'missing ENOENT')
  assert.equal(codeOf(await context.list(at('sys/a'))), 'missing ENOTDIR')
  assert.equal(codeOf(await context.target(at('sys/a'))), 'unsupported EINVAL')
})

test('a file that may not be read is denied, to root as well', { skip: !fs.existsSync(DENIES) }, async (t) => {
  const { context } = bringUp(t)
  assert.match(codeOf(await context.read(DENIES)), /^denied E(ACCES|PERM)$/)
})

test('a FIFO without a writer, an endless device and a huge file are refused at the limits of the sources', async (t) => {
  const { node, context, at } = bringUp(t)
  node.write('sys/a', '')
  node.makeFifo('sys/a')
  assert.equal(codeOf(await context.read(at('sys/a'))), 'failed ESPIPE')
  node.makeHuge('sys/huge', 100_000_000)
  for (const [path, bytes] of [
    ['/dev/zero', 1 << 20],
    [at('sys/huge'), 4096],
  ] as const) {
    const refusal = await context.read(path)
    assert.equal(codeOf(refusal), 'failed content')
    assert.equal(refusal instanceof ReadRefusal && refusal.words, `it is longer than ${bytes} bytes`)
  }
})

test('a table of interfaces that is longer than a page is read whole', async (t) => {
  const { node, context, at } = bringUp(t)
  const table = Array.from({ length: 500 }, (_, line) => `eth${line}: ${'1 '.repeat(16)}`).join('\n')
  node.write('proc/net/dev', `${table}\n`)
  assert.equal(String(await context.read(at('proc/net/dev'))), `${table}\n`)
})
