import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { readFiles, temporaryFolder } from '../../test/files-rig.ts'
import { sondeError } from '../../test/helper.ts'
import type { SondeError } from '../errors.ts'
import { array, label, nested, timestamp, value } from '../schema/field.ts'
import { defineType } from '../schema/record-type.ts'
import { timestampUs } from '../source/clock.ts'
import { createSchema } from './schema.ts'

/** A program that reports ten records to files, and then does what its second argument says. */
const PROGRAM = `
import { rmSync, writeFileSync } from 'node:fs'
import { createSchema, defineType, timestamp, timestampUs, value } from '@sonde/sdk'
const [dataRoot, ending] = process.argv.slice(1)
const schema = createSchema({ name: 'ends', export: { files: { dataRoot } } })
const n = schema.addType(defineType('n', '', { time: timestamp('us'), n: value('u32') }))
await schema.start()
const source = schema.createSource({ id: 'me', tag: 'end' })
if (ending === 'late') await source.flush()
for (let i = 0; i < 10; i++) source.report(n, { time: timestampUs(), n: i })
switch (ending) {
  case 'blocked':
    rmSync(dataRoot, { recursive: true })
    writeFileSync(dataRoot, '')
    process.exit(0)
  case 'exit':
    process.exit(0)
  case 'throw':
    throw new Error('the program is broken')
  case 'signal':
    process.once('SIGTERM', () => void schema.close().then(() => process.exit(0)))
    setInterval(() => undefined, 1000)
    process.kill(process.pid, 'SIGTERM')
}
`

async function runProgram(
  t: TestContext,
  ending: string,
): Promise<{ root: string; code: number | null; said: string }> {
  const root = temporaryFolder(t)
  const flags = ['--conditions=source', '--disable-warning=ExperimentalWarning', '--input-type=module']
  const child = spawn(process.execPath, [...flags, '--eval', PROGRAM, root, ending], {
    cwd: import.meta.dirname,
    stdio: ['ignore', 'inherit', 'pipe'],
  })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  const [code] = (await once(child, 'close')) as [number | null]
  return { root, code, said }
}

const endings = [
  ['end', 'its loop is empty', 0],
  ['exit', 'it calls process.exit', 0],
  ['throw', 'an error ends it', 1],
  ['signal', 'it closes the schema at a signal', 0],
] as const

for (const [ending, how, wanted] of endings) {
  test(`records that are buffered reach the files of a program of which ${how}`, async (t) => {
    const { root, code } = await runProgram(t, ending)
    assert.equal(code, wanted)
    const files = readFiles(root)
    const numbers = files.flatMap(({ batches }) => batches.flatMap(({ records }) => records.map(({ n }) => n)))
    assert.deepEqual(
      numbers,
      Array.from({ length: 10 }, (_, i) => i),
    )
    assert.deepEqual(
      files.map(({ end, source }) => [end.ignoredBytes, source?.id, source?.tag, source?.schema]),
      [[0, 'me', 'end', 'ends']],
    )
  })
}

test('what could not be written at process.exit is told in one line', async (t) => {
  const { said } = await runProgram(t, 'blocked')
  assert.match(said, /^\(node:\d+\) \[TEL_LOST\] Warning: files dropped 10 records \(10 failed\): .*\n$/)
})

test('a folder of files that cannot be used is told by start, which may be tried again', async (t) => {
  const folder = temporaryFolder(t)
  const dataRoot = join(folder, 'data')
  const schema = createSchema({ name: 'blocked', export: { files: { dataRoot } } })
  writeFileSync(dataRoot, '')
  await assert.rejects(schema.start(), (error: SondeError) => {
    assert.equal(error.code, 'FIL_ROOT')
    assert.match(error.message, new RegExp(`^no file can be made in ${dataRoot}: E[A-Z]+`))
    return error.cause instanceof Error
  })
  rmSync(dataRoot)
  await schema.start()
  assert.deepEqual(readdirSync(dataRoot), [], 'the try leaves nothing behind')
  await schema.close()
})

test('files of a schema hold what was reported, nested records too, and a flush says that it is safe', async (t) => {
  const dataRoot = temporaryFolder(t)
  const lane = defineType('lane', 'A lane', { name: label(), errors: value('u64') })
  const schema = createSchema({ name: 'links', export: { files: { dataRoot } } })
  const link = schema.addType(
    defineType('link', 'A link', { time: timestamp('us'), lanes: array(nested(lane), 2), total: nested(lane) }),
  )
  await schema.start()
  const source = schema.createSource({ id: 'host', tag: 'nic' })
  const total = { name: 'all', errors: 2n ** 60n }
  const record = {
    time: BigInt(timestampUs()),
    lanes: [
      { name: 'a', errors: 1n },
      { name: 'b', errors: 2n },
    ],
    total,
  }
  source.report(link, record)
  await source.flush()
  assert.equal(schema.status().ack, 'durable')
  const read = () => readFiles(dataRoot).flatMap(({ batches }) => batches.flatMap(({ records }) => records))
  assert.deepEqual(read(), [record])
  source.report(schema.indexOf(link), record)
  await schema.close()
  assert.deepEqual(read(), [record, record])
})

test('names that are refused leave no file behind', async (t) => {
  const dataRoot = temporaryFolder(t)
  const schema = createSchema({ name: 'names', export: { files: { dataRoot } } })
  schema.addType(defineType('t', '', { time: timestamp('us') }))
  await schema.start()
  for (const tag of ['../up', 'a/b', 'a\nb', 'x'.repeat(300)]) {
    assert.throws(() => schema.createSource({ tag }), sondeError('TEL_NAME'))
    assert.throws(() => schema.createSource({ id: tag, tag: '' }), sondeError('TEL_NAME'))
  }
  await schema.close()
  assert.deepEqual(readFiles(dataRoot), [])
})
