import assert from 'node:assert/strict'
import fs from 'node:fs'
import { type TestContext, test } from 'node:test'
import { defineType, gauge, optional, timestamp, wallNs } from '@sonde/sdk'
import { block } from '@sonde/sdk/config'
import { absenceType } from '@sonde/sdk/internal'
import { AttributeReader, type ExplainFailure } from './attribute-reader.ts'
import { FieldAbsences, Missing } from './field-absences.ts'
import { KernelFiles } from './kernel-file.ts'
import { KernelText, parseNumber } from './kernel-text.ts'
import { type SampledSource, sampled } from './sampled.ts'
import type { SourceContext, SourceDefinition } from './source.ts'
import { DENIES } from './test-damage.ts'
import { TestedSource, TestNode } from './test-node.ts'

const REFUSES = '/sys/class/net/lo/speed'
const FILE = 'sys/size'
const sizeType = defineType('test_size', 'What one file holds', {
  time: timestamp(),
  size: optional(gauge('u64', { help: 'What the file holds' })),
})

/** Parses a size, or the word `none`. */
function parseSize(bytes: Uint8Array): number | bigint | Missing | undefined {
  return new KernelText(bytes).skip('none') ? new Missing('unsupported', 'it has no size') : parseNumber(bytes)
}

/** A source whose only field is read from one file. */
function definitionOf(explain?: ExplainFailure): SourceDefinition {
  return {
    ...{ name: 'test_size', summary: 'One file', types: [sizeType], host: 'agent', intervalMs: 1000 },
    options: block({}),
    load: async () => ({ create: (_, context) => sampled(sizeSource(context, explain), context) }),
  }
}

function sizeSource(context: SourceContext, explain?: ExplainFailure): SampledSource {
  const files = new KernelFiles(context.paths.sysfs)
  const absences = new FieldAbsences(context.absences, sizeType, undefined)
  const attributes = new AttributeReader(context, absences, explain)
  const file = files.file('size')
  return {
    probe: () => ({ state: 'present', found: 'a file' }),
    sample: () => context.source.report(sizeType, { time: wallNs(), size: attributes.read('size', file, parseSize) }),
    close: () => files.close(),
  }
}

function bringUp(t: TestContext, explain?: ExplainFailure) {
  const node = new TestNode(t)
  node.write(FILE, '4\n')
  const tested = new TestedSource(definitionOf(explain), node.paths)
  t.after(() => tested.source.close())
  /** Takes a sample; returns its value and new absence records. */
  const sample = async () => {
    await tested.source.sample()
    const taken = tested.take()
    const said = taken.find(({ type }) => type === absenceType)?.record
    const size = taken.find(({ type }) => type === sizeType)?.record.size
    return { size, code: said?.code, reason: String(said?.reason) }
  }
  return { node, tested, path: `${node.root}/${FILE}`, sample }
}

test('a field is what its file holds, without a word about it', async (t) => {
  const { tested, sample } = bringUp(t)
  assert.deepEqual(await sample(), { size: 4n, code: undefined, reason: 'undefined' })
  assert.deepEqual(tested.failures, [])
})

test('a file that is not there leaves its field absent, which is said once and is no failure, until it is back', async (t) => {
  const { node, tested, path, sample } = bringUp(t)
  node.remove(FILE)
  assert.deepEqual(await sample(), { size: undefined, code: 'unsupported', reason: `${path} is not there` })
  assert.equal((await sample()).code, undefined)
  node.write(FILE, '5\n')
  assert.deepEqual(await sample(), { size: 5n, code: '', reason: '' })
  assert.deepEqual(tested.failures, [])
})

test('a file that the driver refuses, and one that may not be read, are no failures', async (t) => {
  for (const [answer, code] of [
    [REFUSES, 'unsupported'],
    [DENIES, 'denied'],
  ] as const) {
    if (!fs.existsSync(answer)) continue
    const { node, tested, path, sample } = bringUp(t)
    node.link(FILE, answer)
    const said = await sample()
    assert.equal(said.code, code)
    assert.ok(said.reason.includes(path), said.reason)
    assert.deepEqual(tested.failures, [])
  }
})

test('a file that holds something else is counted with its path, and what it holds is told', async (t) => {
  const { node, tested, path, sample } = bringUp(t)
  for (const [text, words] of [
    ['many\nlines\n', 'holds something else than expected: "many"'],
    ['', 'is empty'],
  ]) {
    tested.failures.length = 0
    node.write(FILE, String(text))
    assert.equal((await sample()).size, undefined)
    assert.deepEqual(tested.failures, [{ place: path, message: `${path} ${words}` }])
    assert.equal(tested.absent.get('test_size{}.size'), 'failed')
  }
})

test('a read that fails is counted', async (t) => {
  const { node, tested, path, sample } = bringUp(t)
  node.makeFolder(FILE)
  assert.equal((await sample()).code, 'failed')
  assert.deepEqual(
    tested.failures.map(({ place }) => place),
    [path],
  )
})

test('a file that says itself that it has no value is no failure', async (t) => {
  const { node, tested, sample } = bringUp(t)
  node.write(FILE, 'none\n')
  assert.deepEqual(await sample(), { size: undefined, code: 'unsupported', reason: 'it has no size' })
  assert.deepEqual(tested.failures, [])
})

test('a source has words of its own for a file that could not be read', async (t) => {
  const explain: ExplainFailure = ({ kind, words }, { path }) => `${kind} of ${path}: ${words}`
  const { node, path, sample } = bringUp(t, explain)
  node.remove(FILE)
  assert.equal((await sample()).reason, `missing of ${path}: ${path} is not there`)
})
