import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { untilSignal } from './until-signal.ts'

afterEach(() => {
  process.removeAllListeners('SIGINT').removeAllListeners('SIGTERM')
})

function running(close: () => Promise<void>) {
  return Promise.resolve({ address: 'http://127.0.0.1:1', close })
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
  const { promise, resolve } = Promise.withResolvers<{ address: string; close(): Promise<void> }>()
  const ended = untilSignal(promise)
  process.emit('SIGINT', 'SIGINT')
  let closed = false
  resolve({
    address: '',
    async close() {
      closed = true
    },
  })
  assert.equal(await ended, 0)
  assert.ok(closed)
})

test('a second signal ends what hangs at once, but not the same one from several sides', async () => {
  const startMs = performance.now()
  let code: number | undefined
  void untilSignal(running(() => new Promise(() => undefined))).then((end) => {
    code = end
  })
  while (code === undefined && performance.now() - startMs < 4000) {
    process.emit('SIGINT', 'SIGINT')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  assert.equal(code, 130)
  assert.ok(performance.now() - startMs > 1000)
})

test('what hangs is left behind after the limit, with code 1', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const ended = untilSignal(running(() => new Promise(() => undefined)))
  process.emit('SIGTERM', 'SIGTERM')
  await new Promise((resolve) => setImmediate(resolve))
  t.mock.timers.tick(4500)
  assert.equal(await ended, 1)
})
