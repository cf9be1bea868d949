import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { runSonde, startSonde } from '../sonde-process.ts'

const linesOf = (pid: number | undefined, file: string): string[] =>
  readFileSync(`/proc/${pid}/${file}`, 'utf8').split('\0')

test('an agent restarts itself small: same process, arguments and environment', async (t) => {
  const sonde = await startSonde(['agent', '--log-level', 'error'], {
    restarts: true,
    env: { SONDE_TEST_WORD: 'kept as it is' },
  })
  t.after(() => sonde.stop('SIGKILL'))
  const { pid } = sonde.child
  assert.equal((await fetch(`${sonde.address}/healthz`)).status, 200)
  assert.equal(linesOf(pid, 'cmdline').filter((word) => word === '--max-semi-space-size=2').length, 1)
  assert.match(linesOf(pid, 'cmdline').join(' '), / agent --log-level error/)
  assert.ok(linesOf(pid, 'environ').includes('MALLOC_ARENA_MAX=1'))
  assert.ok(linesOf(pid, 'environ').includes('MALLOC_MMAP_THRESHOLD_=8192'))
  assert.ok(linesOf(pid, 'environ').includes('SONDE_TEST_WORD=kept as it is'))
  assert.equal(await sonde.stop(), 0)
})

test('what somebody set in the environment stands', async (t) => {
  const sonde = await startSonde(['agent'], { restarts: true, env: { MALLOC_ARENA_MAX: '3' } })
  t.after(() => sonde.stop('SIGKILL'))
  assert.ok(linesOf(sonde.child.pid, 'environ').includes('MALLOC_ARENA_MAX=3'))
})

test('a command that ends by itself does not restart', async () => {
  const { code, output } = await runSonde(['--version'], { restarts: true })
  assert.equal(code, 0)
  assert.match(output, /^\d+\.\d+\.\d+\n$/, 'no word of an experimental function either')
})
