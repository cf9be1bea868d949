import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { startSonde, temporaryDir, until } from '../sonde-process.ts'

const LIMIT_MS = 20_000
const MAIN = fileURLToPath(new URL('../interop/indexed-main.ts', import.meta.url))

function start(t: TestContext, env: Record<string, string>): ChildProcess {
  const flags = ['--conditions=source', '--disable-warning=ExperimentalWarning']
  const child = spawn(process.execPath, [...flags, MAIN], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  })
  t.after(async () => {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  })
  return child
}

async function firstLine({ stdout }: ChildProcess): Promise<string> {
  assert.ok(stdout !== null)
  const [line] = await once(createInterface({ input: stdout }), 'line', { signal: AbortSignal.timeout(LIMIT_MS) })
  return String(line)
}

const linesOf = async (address: string) => (await (await fetch(`${address}/metrics`)).text()).split('\n')

test('of two programs with one endpoint the first serves; the second fails with port and variable, or the agent serves it', async (t) => {
  const { path, remove } = temporaryDir()
  t.after(remove)
  const env = { XDG_RUNTIME_DIR: path }
  const agent = await startSonde(['agent', '--log-level', 'error'], { env: { ...env, SONDE_SERVICE_ENABLED: 'true' } })
  t.after(() => agent.stop())

  const address = await firstLine(start(t, { ...env, PROMETHEUS_ENDPOINT: '127.0.0.1:0' }))
  const endpoint = { ...env, PROMETHEUS_ENDPOINT: address }
  const isQueue = (line: string) => line.startsWith('queue_depth{')
  assert.equal((await linesOf(address)).filter(isQueue).length, 1)

  const failing = start(t, endpoint)
  let complaint = ''
  failing.stderr?.on('data', (chunk) => {
    complaint += chunk
  })
  const [code] = await once(failing, 'close')
  assert.equal(code, 1)
  assert.ok(complaint.includes(`${address} (PROMETHEUS_ENDPOINT) is taken; give another port`), complaint)

  assert.equal((await linesOf(agent.address)).filter(isQueue).length, 0)
  const handing = start(t, { ...endpoint, SONDE_PROMETHEUS_WHEN_TAKEN: 'service' })
  assert.equal(await firstLine(handing), 'undefined')
  const [line] = await until('the records at the agent', LIMIT_MS, async () => {
    const lines = (await linesOf(agent.address)).filter(isQueue)
    return lines.length > 0 && lines
  })
  assert.match(line ?? '', /^queue_depth\{site="north",source="host-1",tag="letters"\} /)
})
