import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testSource } from '../conformance.ts'
import { TestedSource, TestNode } from '../test-node.ts'
import { parseFileNr } from './parse.ts'
import { template } from './template.ts'
import { openFilesType } from './type.ts'

const TREE = new URL('fixtures/node', import.meta.url)
const text = (value: string) => new TextEncoder().encode(value)

testSource(template, { tree: TREE, file: 'proc/sys/fs/file-nr' })

test('reads three numbers, whatever their size', () => {
  assert.deepEqual(parseFileNr(text('992\t0\t9223372036854775807\n')), {
    allocated: 992,
    limit: 9223372036854775807n,
  })
  for (const wrong of ['', '1 2', '1 2 3 4', 'a b c', '1 -2 3'])
    assert.equal(parseFileNr(text(wrong)), undefined, wrong)
})

test('leaves the limit out, and says why, where it is not asked for', async (t) => {
  const tested = new TestedSource(template, new TestNode(t, TREE).paths, { limit: false })
  t.after(() => tested.source.close())
  await tested.source.sample()
  const taken = tested.take()
  const record = taken.find(({ type }) => type === openFilesType)?.record
  assert.deepEqual(Object.keys(record ?? {}), ['time', 'allocated'])
  assert.deepEqual(TestedSource.absences(taken, {}), ['limit: not_sampled'])
})
