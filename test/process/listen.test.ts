import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { runSonde, type SondeProcess, startSonde, temporaryDir } from '../sonde-process.ts'
import { SONDE } from '../sonde-program.ts'

async function start(t: TestContext, args: readonly string[]): Promise<SondeProcess> {
  const sonde = await startSonde(args)
  t.after(() => sonde.stop('SIGKILL'))
  return sonde
}

/** A port of the host that something listens on. */
async function takenPort(t: TestContext, host: string): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, host, resolve))
  t.after(() => server.close())
  return (server.address() as { port: number }).port
}

/** A folder that is not there yet. */
function missingDir(t: TestContext): string {
  const { path, remove } = temporaryDir()
  t.after(remove)
  return join(path, 'data')
}

function dataDir(t: TestContext): string[] {
  const { path, remove } = temporaryDir()
  t.after(remove)
  return ['--data-dir', path]
}

test('a port in use ends a second instance with one line and code 1', async (t) => {
  const first = await start(t, ['agent'])
  const { host } = new URL(first.address)
  for (const command of [['agent'], ['up', ...dataDir(t)]]) {
    const { code, output } = await runSonde([...command, '--listen', host])
    assert.equal(code, 1, output)
    assert.equal(output, `sonde: ${host} is in use by another program; choose another address with --listen\n`)
  }
  assert.equal((await fetch(`${first.address}/healthz`)).status, 200, 'the first one goes on')
})

test('an instance that cannot listen leaves nothing behind on disk', async (t) => {
  const dir = missingDir(t)
  for (const place of [`127.0.0.1:${await takenPort(t, '127.0.0.1')}`, '192.0.2.1:0']) {
    const { code, output } = await runSonde(['up', '--data-dir', dir, '--listen', place])
    assert.equal(code, 1, output)
    assert.equal(existsSync(dir), false)
  }
})

test('a scenario that does not fit the node leaves nothing behind on disk', async (t) => {
  const dir = missingDir(t)
  for (const command of ['up', 'check']) {
    const args = ['--data-dir', dir, '--listen', '127.0.0.1:0', '--simulate=straggler@gpu99']
    const { code, output } = await runSonde([command, ...args])
    assert.equal(code, 2, output)
    assert.match(output, /^sonde: "gpu99" is no device of hgx-h100; allowed: sim-gpu-0/)
    assert.equal(existsSync(dir), false)
  }
})

test('check says whether the port is free, and makes nothing', async (t) => {
  const dir = missingDir(t)
  const check = (listen: string) => runSonde(['check', '--data-dir', dir, '--listen', listen])
  const free = await check('127.0.0.1:0')
  assert.equal(free.code, 0, free.output)
  assert.match(free.output, /^listener +free +127\.0\.0\.1:0$/m)
  const place = `127.0.0.1:${await takenPort(t, '127.0.0.1')}`
  const taken = await check(place)
  assert.equal(taken.code, 1, taken.output)
  assert.match(taken.output, new RegExp(`^listener +taken +${place} is in use by another program`, 'm'))
  const foreign = await check('192.0.2.1:0')
  assert.equal(foreign.code, 1, foreign.output)
  assert.match(foreign.output, /^listener +denied +cannot listen on 192\.0\.2\.1:0: no interface/m)
  assert.equal(existsSync(dir), false)
})

test('a port in use on IPv6 is said with brackets', async (t) => {
  const port = await takenPort(t, '::1')
  const { code, output } = await runSonde(['agent', '--listen', `[::1]:${port}`])
  assert.equal(code, 1, output)
  assert.equal(output, `sonde: [::1]:${port} is in use by another program; choose another address with --listen\n`)
})

test('listens on IPv6 and says so', async (t) => {
  const sonde = await start(t, ['agent', '--listen', '[::1]:0'])
  assert.match(sonde.address, /^http:\/\/\[::1\]:\d+$/)
  assert.equal((await fetch(`${sonde.address}/api/v1/node`)).status, 200)
})

test('an address that is not of this machine is one line and code 1', async () => {
  for (const host of ['192.0.2.1', 'no-such-host.invalid']) {
    const { code, output } = await runSonde(['agent', '--listen', `${host}:0`])
    assert.equal(code, 1, output)
    assert.match(output, new RegExp(`^sonde: cannot listen on ${host}:0: no .+ with --listen\n$`))
    assert.equal(output.split('\n').length, 2)
  }
})

test('what is neither address nor name is wrong before anything is tried: one line and code 2', async () => {
  for (const host of ['foo bar', '256.1.1.1', '*']) {
    const { code, output } = await runSonde(['agent', '--listen', `${host}:0`])
    assert.equal(code, 2, output)
    const allowed = 'an IPv4 or IPv6 address, or a host name; 0.0.0.0 stands for all addresses of this machine'
    assert.equal(output, `sonde: --listen is "${host}"; allowed: ${allowed}\n`)
  }
})

test('a port that needs rights that we lack is one line and code 1', async () => {
  const first = Number(readFileSync('/proc/sys/net/ipv4/ip_unprivileged_port_start', 'utf8'))
  const [node, ...flags] = SONDE
  const args = [...flags, 'agent', '--listen', '127.0.0.1:1']
  // Some containers let everybody listen on every port: there is nothing to refuse.
  if (first <= 1) return
  const env = { ...process.env, SONDE_CONFIG: '' }
  const isRoot = process.getuid?.() === 0
  // Root without the right to bind: the rest of what root may do is needed to read this clone wherever it lies.
  const lesser = ['--bounding-set=-net_bind_service', '--inh-caps=-net_bind_service', node]
  const [command = '', ...prefix] = isRoot ? ['setpriv', ...lesser] : [node]
  const { status, stderr, stdout } = spawnSync(command, [...prefix, ...args], {
    env,
    encoding: 'utf8',
    timeout: 30_000,
  })
  assert.equal(status, 1, stdout + stderr)
  assert.equal(stderr, 'sonde: 127.0.0.1:1 needs more rights; choose a port above 1023 with --listen\n')
})

test('listens on loopback unless told otherwise, and refuses a page of elsewhere', async (t) => {
  const sonde = await start(t, ['up', ...dataDir(t)])
  assert.match(sonde.address, /^http:\/\/127\.0\.0\.1:/)
  const page = await fetch(`${sonde.address}/`)
  assert.match(page.headers.get('content-security-policy') ?? '', /default-src 'none'; script-src 'self'/)
  assert.equal(page.headers.get('x-content-type-options'), 'nosniff')
  const { port } = new URL(sonde.address)
  const { status } = spawnSync(process.execPath, ['-e', REBOUND, port], { encoding: 'utf8' })
  assert.equal(status, 0)
})

test('a browser is shown the page that says that nothing is at an address; a program gets JSON; both with 404', async (t) => {
  const { address } = await start(t, ['up', ...dataDir(t)])
  const ask = (path: string, accept: string) => fetch(`${address}${path}`, { headers: { accept } })
  const kindOf = ({ status, headers }: Response) => `${status} ${headers.get('content-type')?.split(';')[0]}`
  const html = 'text/html,application/xhtml+xml,*/*;q=0.8'
  for (const path of ['/', '/fabric', '/fabric/eth0', '/explore', '/sources', '/sources/netdev'])
    assert.equal(kindOf(await ask(path, html)), '200 text/html', path)
  for (const path of ['/setting', '/nodes/a/b', '/sources/a/b', '/nothing']) {
    assert.equal(kindOf(await ask(path, html)), '404 text/html', path)
    const answer = await ask(path, '*/*')
    assert.equal(kindOf(answer), '404 application/json', path)
    assert.match(await answer.text(), /"HTTP_NOT_FOUND"/)
  }
  assert.equal(kindOf(await ask('/api/v1/nothing', html)), '404 application/json')
})

test('metrics in the place of a view of the page are refused where there is a page', async (t) => {
  const dir = missingDir(t)
  const env = { SONDE_EXPORT_PROMETHEUS_PATH: '/fabric' }
  const { code, output } = await runSonde(['up', '--data-dir', dir, '--listen', '127.0.0.1:0'], { env })
  assert.equal(code, 2, output)
  assert.match(
    output,
    /^sonde: SONDE_EXPORT_PROMETHEUS_PATH: export\.prometheus\.path is "\/fabric", where the page is; allowed: .*\n$/,
  )
  assert.equal(existsSync(dir), false)
  const agent = await startSonde(['agent'], { env })
  t.after(() => agent.stop('SIGKILL'))
  assert.equal((await fetch(`${agent.address}/fabric`)).status, 200)
})

/**
 * Asks for the page under a name that is not ours, which fetch would not do: exit code 0 if it is refused with 421.
 */
const REBOUND = `require('node:http').get({ port: process.argv[1], headers: { host: 'rebound.example' } }, (response) =>
  process.exit(response.statusCode === 421 ? 0 : 1))`
