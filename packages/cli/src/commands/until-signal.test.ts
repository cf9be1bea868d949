import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { afterEach, test } from 'node:test'
import { untilSignal } from './until-signal.ts'

afterEach(() => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.removeAllListeners(signal)
})

function running(close: () => Promise<void>) {
  return Promise.resolve({ addresses: 'http://127.0.0.1:1', close })
}

test('a signal closes what runs, and the exit code is 0', async () => {
  let closed = 0
  const ended = untilSignal(
    running(async () => {
      closed++
    }),
  )
  process.emit('SIGTERM', 'SIGTERM')
  assert.equal(await ended, 0)
  assert.equal(closed, 1)
})

test('what cannot start rejects without a signal', async () => {
  await assert.rejects(untilSignal(Promise.reject(new Error('the port is taken'))), /the port is taken/)
})

test('a signal while it starts waits for the start, then closes', async () => {
  const { promise, resolve } = Promise.withResolvers<{ addresses: string; close(): Promise<void> }>()
  const ended = untilSignal(promise)
  process.emit('SIGINT', 'SIGINT')
  let closed = false
  resolve({
    addresses: '',
    async close() {
      closed = true
    },
  })
  assert.equal(await ended, 0)
  assert.ok(closed)
})

test('a second signal ends what hangs at once, but not the same one from several sides', async (t) => {
  let nowMs = 10_000
  t.mock.method(performance, 'now', () => nowMs)
  const ended = untilSignal(running(() => new Promise(() => undefined)))
  process.emit('SIGINT', 'SIGINT')
  nowMs += 1000
  process.emit('SIGINT', 'SIGINT')
  assert.equal(await Promise.race([ended, new Promise((resolve) => setImmediate(() => resolve('hangs')))]), 'hangs')
  nowMs += 1
  process.emit('SIGINT', 'SIGINT')
  assert.equal(await ended, 130)
})

test('what hangs beyond the limit does not keep the process: it kills itself, and says so in one line', () => {
  const program = `import { untilSignal } from ${JSON.stringify(import.meta.resolve('./until-signal.ts'))}
    setInterval(() => {}, 1000)
    void untilSignal(Promise.resolve({ addresses: '', close: () => new Promise(() => {}) }))
    process.kill(process.pid, 'SIGTERM')`
  const args = ['--conditions=source', '--input-type=module', '--eval', program]
  const { signal, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 60_000 })
  assert.equal(signal, 'SIGKILL')
  assert.match(stderr, /^sonde: stopping took more than 4500 ms; .+\n$/)
})
