import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { counter, createFiles, createSource, defineType, label, type RecordType, timestamp } from '@sonde/sdk'
import { BLOCK_HEADER_BYTES, FILE_HEADER_BYTES } from '../../packages/sdk/src/wire/dtb/format.ts'
import { filesBelow, sondeRead, temporaryFolder } from './sonde-read.ts'

const FIRST_NS = 1_790_000_000_000_000_000n

/** Records of all are alike in size and form: only their index tells them apart. */
const TYPES = ['drop', 'error', 'pause', 'retry'].map((name) =>
  defineType(name, `How often: ${name}`, { time: timestamp(), device: label(), events_total: counter('u64') }),
)

/**
 * One file whose first block has all the types, of a source that reports records of each in turns. Returns its path.
 */
async function writeFileOf(dataRoot: string, id: string, types: readonly RecordType[]): Promise<string> {
  const sink = createFiles({ dataRoot, types })
  const source = createSource({ id, emit: (batch) => sink.accept(batch) })
  for (let i = 0; i < 40; i++) {
    const type = types[i % types.length] as RecordType
    source.report(type, { time: FIRST_NS + BigInt(i), device: `${type.name}${i % 2}`, events_total: i })
    if (i % 10 === 9) await source.flush()
  }
  await source.close()
  await sink.close()
  const [file = '', ...others] = filesBelow(dataRoot).filter((path) => dirname(path).endsWith(id))
  assert.equal(others.length, 0)
  return file
}

/** Turns one bit over in the first block, of the types: in its payload, or in its header. */
function damageTypes(file: string, part: 'header' | 'payload'): void {
  const bytes = readFileSync(file)
  const at = FILE_HEADER_BYTES + (part === 'header' ? 8 : BLOCK_HEADER_BYTES + 5)
  bytes[at] = (bytes[at] ?? 0) ^ 1
  writeFileSync(file, bytes)
}

const sidecarsOf = (t: string) => readdirSync(join(t, 'schema')).map((name) => join(t, 'schema', name))

async function rootOf(t: TestContext) {
  const root = temporaryFolder(t)
  const file = await writeFileOf(root, 'node1', TYPES)
  const [sidecar = ''] = sidecarsOf(root)
  return { root, file, sidecar, expected: sondeRead(file).stdout }
}

for (const part of ['header', 'payload'] as const) {
  test(`several types that a damaged first block (${part}) held come back out of the sidecar, each under its own index`, async (t) => {
    const { file, expected } = await rootOf(t)
    assert.equal(expected.split('\n').length, 41)
    damageTypes(file, part)
    const { stdout, stderr, code } = sondeRead(file, '--salvage')
    assert.equal(stdout, expected)
    assert.deepEqual([code, /at 64: /.test(stderr)], [1, true], stderr)
    const [row] = JSON.parse(`[${sondeRead(file, '--verify', '--salvage', '--format', 'jsonl').stdout.trim()}]`)
    assert.deepEqual([row.state, row.records, row.fault_count], ['damaged', 40, 1])
  })
}

test('a sidecar that gives the same types other indexes does not help', async (t) => {
  const { file, sidecar } = await rootOf(t)
  const text = JSON.parse(readFileSync(sidecar, 'utf8'))
  text.types = text.types.toReversed().map((entry: object, index: number) => ({ ...entry, index }))
  writeFileSync(sidecar, JSON.stringify(text))
  damageTypes(file, 'payload')
  const { stdout, stderr } = sondeRead(file, '--salvage')
  assert.equal(stdout, '')
  assert.match(stderr, /does not help: its types have not the indexes of the schema/)
})

/** What somebody who may write the folder can put in the place of a sidecar. */
const PLANTED: readonly (readonly [name: string, plant: (path: string) => void, why?: string])[] = [
  ['a pipe', (path) => execFileSync('mkfifo', [path])],
  ['a folder', (path) => mkdirSync(path)],
  ['a device without end', (path) => symlinkSync('/dev/zero', path)],
  [
    'a file of the kernel that says it is empty, and hardly ends',
    (path) => symlinkSync('/proc/self/pagemap', path),
    'it is larger than 16777216 bytes',
  ],
  ['a link to itself', (path) => symlinkSync(path, path)],
  [
    'a file of 1 TiB',
    (path) => {
      writeFileSync(path, '{}')
      truncateSync(path, 2 ** 40)
    },
    'it is larger than 16777216 bytes',
  ],
  ['lists within lists', (path) => writeFileSync(path, '['.repeat(1e6))],
  ['null', (path) => writeFileSync(path, 'null')],
  ['types that are none', (path) => writeFileSync(path, '{"types": [{"index": 0, "definition": {"__proto__": 1}}]}')],
]

test('whatever is in the place of a sidecar, the files of others are read in full, and nobody waits', async (t) => {
  const { root, file, sidecar } = await rootOf(t)
  const honest = await writeFileOf(root, 'node2', TYPES.slice(1, 3))
  const expected = sondeRead(honest).stdout
  damageTypes(file, 'payload')
  for (const [name, plant, why = ''] of PLANTED) {
    rmSync(sidecar, { recursive: true })
    plant(sidecar)
    const { stdout, stderr, code } = sondeRead(root, '--salvage')
    assert.equal(stdout, expected, name)
    assert.equal(code, 1, name)
    assert.match(stderr, new RegExp(`${sidecar} does not help: ${why}`), name)
  }
})

test('of two sidecars one is damaged: files of the other are read in full, and the one is told with its file', async (t) => {
  const { root, file, sidecar, expected } = await rootOf(t)
  const other = await writeFileOf(root, 'node2', TYPES.slice(1, 3))
  const [ofOther = ''] = sidecarsOf(root).filter((path) => path !== sidecar)
  const expectedOfOther = sondeRead(other).stdout
  for (const each of [file, other]) damageTypes(each, 'payload')
  writeFileSync(sidecar, readFileSync(sidecar).subarray(0, 100))
  const { stdout, stderr, code } = sondeRead(root, '--salvage')
  assert.equal(stdout, expectedOfOther)
  assert.equal(code, 1)
  assert.match(stderr, new RegExp(`${sidecar} does not help: `))
  assert.doesNotMatch(stderr, new RegExp(`${ofOther} does not help`))
  // The schema folder of the option comes first; if it does not help, the usual folder does.
  writeFileSync(ofOther, readFileSync(ofOther).subarray(0, 100))
  const whole = temporaryFolder(t)
  await writeFileOf(whole, 'node1', TYPES)
  const named = sondeRead(file, '--salvage', '--schema-dir', join(whole, 'schema'))
  assert.equal(named.stdout, expected)
  assert.doesNotMatch(named.stderr, /does not help/)
  const usual = sondeRead(filesBelow(whole)[0] ?? '', '--salvage', '--schema-dir', join(root, 'schema'))
  assert.equal(usual.stdout, expected)
})
