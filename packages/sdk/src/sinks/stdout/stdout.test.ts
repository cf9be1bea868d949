import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { closeSync, constants, openSync, readFileSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { temporaryFolder } from '../../../test/files-rig.ts'
import { until } from '../../../test/helper.ts'
import { BatchSource } from '../../../test/sink-records.ts'
import { testSink } from '../../../test/test-sink.ts'
import { createStdout } from './stdout.ts'

testSink('stdout', 'view', (t, limits) => {
  const path = join(temporaryFolder(t), 'output')
  const fd = openSync(path, 'a')
  t.after(() => closeSync(fd))
  const { concurrency: _one, ...rest } = limits
  return {
    sink: createStdout({ ...rest, layout: 'custom' }, fd),
    read(type, field) {
      const text = readFileSync(path, 'utf8').replace(/("\w+"):(\d{16,})/g, '$1:"$2"')
      const lines = text.split('\n').flatMap((line) => (line === '' ? [] : JSON.parse(line)))
      const of = lines.filter(({ type_name, values }) => type_name === type.name && field in values)
      return of.map(({ values }) => [String(values.device), BigInt(values[field])])
    },
  }
})

/** A pipe without a reader, and a function that reads it. */
function pipeOf(t: TestContext) {
  const path = join(temporaryFolder(t), 'pipe')
  execFileSync('mkfifo', [path])
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const writer = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK)
  t.after(() => closeSync(writer))
  const room = Buffer.alloc(1 << 16)
  const read = () => {
    try {
      return room.toString('utf8', 0, readSync(reader, room))
    } catch {
      // EAGAIN: the pipe is empty.
      return ''
    }
  }
  return { writer, read, leave: () => closeSync(reader) }
}

test('a pipe that nobody reads holds nobody up; read later, it has every line once and whole', async (t) => {
  const { writer, read, leave } = pipeOf(t)
  t.after(leave)
  const options = { lingerMs: 0, timeoutMs: 30, backoffInitialMs: 1, backoffMaxMs: 2, format: 'template' } as const
  const sinks = ['a', 'b'].map((name) =>
    createStdout({ ...options, name, template: `${name} {device} ${'x'.repeat(200)}` }, writer),
  )
  t.after(() => Promise.all(sinks.map((sink) => sink.close())))
  const devices = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`eth${i}`, i]))
  for (const sink of sinks) sink.accept(new BatchSource().ports(devices))
  await until('attempts are given up', () => sinks.every(({ stats }) => stats.errors > 2))
  let text = ''
  const flushed = Promise.all(sinks.map((sink) => sink.flush()))
  await until('everything is read', () => {
    text += read()
    return text.split('\n').length > 2000
  })
  await flushed
  const lines = text.trimEnd().split('\n')
  assert.equal(new Set(lines).size, 2000)
  assert.ok(lines.every((line) => /^[ab] eth\d+ x{200}$/.test(line)))
})

test('a reader that left is a failure that is told, and no end of the process', async (t) => {
  const { writer, leave } = pipeOf(t)
  leave()
  const sink = createStdout({ lingerMs: 0, attemptsMax: 2, backoffInitialMs: 1 }, writer)
  t.after(() => sink.close())
  sink.accept(new BatchSource().ports({ a: 1 }))
  await assert.rejects(sink.flush(), /dropped 1 record \(1 retry_limit: EPIPE/)
})
