import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { counter, createSource, defineType, label, type Sink, value } from '../../index.ts'
import { parseEndpoint } from './endpoint.ts'
import { openPrometheus, type PrometheusListenerOptions, type PrometheusSink } from './listener.ts'

const port = defineType('port', 'A port', {
  device: label(),
  lane: value('u16'),
  rx_total: counter('u64'),
  tx_total: counter('u64'),
})
const ANY = 'http://127.0.0.1:0'

function report(sink: Sink, id: string, device: string, rx: number): void {
  const source = createSource({ id, emit: (batch) => sink.accept(batch) })
  source.report(port, { device, lane: rx, rx_total: rx, tx_total: rx })
  void source.close()
}

async function opened(t: TestContext, options: PrometheusListenerOptions, environment = {}): Promise<PrometheusSink> {
  const sink = await openPrometheus(options, environment)
  assert.ok(sink !== undefined)
  t.after(() => sink.close())
  return sink
}

const linesAt = async (url: string) =>
  (await (await fetch(url)).text()).split('\n').filter((line) => line.startsWith('port'))

/** A port that somebody else has. */
async function takenPort(t: TestContext): Promise<number> {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  t.after(() => other.close())
  return (other.address() as AddressInfo).port
}

function folder(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'sonde-listener-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

test('an endpoint is an address or a name and a port, with or without http://', () => {
  const read = (text: string) => Object.values(parseEndpoint(text, 'E')).join(' ')
  assert.equal(read('http://0.0.0.0:9101'), '0.0.0.0 9101')
  assert.equal(read('localhost:80'), 'localhost 80')
  assert.equal(read('http://[::1]:9101/'), '::1 9101')
  for (const text of [
    '9101',
    ':9101',
    'a',
    'a:',
    'a:65536',
    'https://a:1',
    'http://a:1/metrics',
    '[a]:1',
    'a b:1',
    'a:1\n',
    '',
  ])
    assert.throws(
      () => parseEndpoint(text, 'E'),
      { code: 'PRM_ENDPOINT', message: /^E is ".*"; allowed: http:\/\/host:port or/s },
      text,
    )
})

test('the variables of the guide open a listener with filters, indexes and labels', async (t) => {
  const dir = folder(t)
  writeFileSync(join(dir, 'rx.cset'), 'rx')
  writeFileSync(join(dir, 'none.fset'), '[other]')
  writeFileSync(join(dir, 'labels.txt'), 'rack=R1\n')
  const sink = await opened(
    t,
    {},
    {
      PROMETHEUS_ENDPOINT: '127.0.0.1:0',
      PROMETHEUS_INDEXES: 'lane',
      PROMETHEUS_CSET_DIR: dir,
      CLX_METADATA_FILE: join(dir, 'labels.txt'),
      CLX_PROMETHEUS_CONSTANT_LABELS: 'zone=z1',
    },
  )
  report(sink, 'app', 'a', 1)
  report(sink, 'app', 'a', 2)
  const of = (metric: string, lane: number) => `${metric}{device="a",lane="${lane}",zone="z1",rack="R1"} ${lane}`
  const rx = [of('port_rx_total', 1), of('port_rx_total', 2)]
  assert.deepEqual(await linesAt(`${sink.address}/metrics`), [...rx, of('port_tx_total', 1), of('port_tx_total', 2)])
  assert.deepEqual(await linesAt(`${sink.address}/cset/rx`), rx)
  assert.deepEqual(await linesAt(`${sink.address}/rx?a=1`), rx)
  assert.deepEqual(await linesAt(`${sink.address}/fset/none`), [])
  assert.deepEqual(await linesAt(`${sink.address}/rx?set=core`), rx)
  const refused = await fetch(`${sink.address}/metrics?set=most`)
  assert.equal(refused.status, 400)
  assert.equal(await refused.text(), 'set is "most"; allowed: core, full, once\n')
})

test('an option counts more than the variable, and what is wrong with one is refused before anything is opened', async (t) => {
  const sink = await opened(
    t,
    { endpoint: ANY, indexes: [] },
    { PROMETHEUS_ENDPOINT: 'nothing', PROMETHEUS_INDEXES: 'lane' },
  )
  report(sink, 'app', 'a', 1)
  assert.deepEqual((await linesAt(`${sink.address}/metrics`))[0], 'port_rx_total{device="a"} 1')
  const refused = (options: object, environment: object, code: string, message: RegExp) =>
    assert.rejects(openPrometheus(options, environment as Record<string, string>), { code, message })
  await refused({}, { PROMETHEUS_ENDPOINT: 'nothing' }, 'PRM_ENDPOINT', /^PROMETHEUS_ENDPOINT is "nothing"/)
  await refused({ endpoint: 9101 }, {}, 'PRM_ENDPOINT', /^the endpoint of the Prometheus view is "9101"/)
  await refused({ endpoint: ANY, whenTaken: 'wait' }, {}, 'PRM_OPTION', /whenTaken is "wait"; allowed: fail, service/)
  await refused({ endpoint: ANY }, { CLX_PROMETHEUS_CONSTANT_LABELS: 'a' }, 'PRM_LABELS', /"a"; allowed: name=value/)
  await refused(
    { endpoint: ANY, metadataFile: '/nowhere' },
    {},
    'PRM_LABELS',
    /^the label file \/nowhere cannot be read: ENOENT/,
  )
})

test('a port that is taken fails with port and variable, or hands over to the service', async (t) => {
  const taken = await takenPort(t)
  const endpoint = `http://127.0.0.1:${taken}`
  const message = `${endpoint} (PROMETHEUS_ENDPOINT) is taken; give another port in PROMETHEUS_ENDPOINT or \`endpoint\`, or set \`whenTaken\` or SONDE_PROMETHEUS_WHEN_TAKEN to service`
  await assert.rejects(openPrometheus({}, { PROMETHEUS_ENDPOINT: endpoint }), { code: 'PRM_TAKEN', message })
  assert.equal(await openPrometheus({ endpoint, whenTaken: 'service' }, {}), undefined)
  const variables = { PROMETHEUS_ENDPOINT: endpoint, SONDE_PROMETHEUS_WHEN_TAKEN: 'service' }
  assert.equal(await openPrometheus({}, variables), undefined)
  await assert.rejects(openPrometheus({}, { ...variables, SONDE_PROMETHEUS_WHEN_TAKEN: 'wait' }), {
    code: 'PRM_OPTION',
  })
  const service = { endpoint: '192.0.2.1:9101', whenTaken: 'service' } as const
  await assert.rejects(openPrometheus(service, {}), {
    code: 'PRM_LISTEN',
    message: /^cannot listen on http:\/\/192\.0\.2\.1:9101/,
  })
})

test('who opens the same endpoint in one process shares it; the last one to close frees the port', async (t) => {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const endpoint = `127.0.0.1:${(probe.address() as AddressInfo).port}`
  probe.close()
  await once(probe, 'close')

  const [one, two] = await Promise.all([opened(t, { endpoint }), opened(t, { endpoint })])
  await assert.rejects(openPrometheus({ endpoint, indexes: ['lane'] }, {}), {
    code: 'PRM_OPTION',
    message: /with other options/,
  })
  report(one, 'one', 'a', 1)
  report(two, 'two', 'b', 1)
  const devices = async () => (await linesAt(`${two.address}/metrics`)).map((line) => line.match(/device="(.)"/)?.[1])
  assert.deepEqual(await devices(), ['a', 'b', 'a', 'b'])
  await one.close()
  await one.close()
  report(one, 'one', 'a', 2)
  assert.deepEqual(await devices(), ['b', 'b'])
  assert.equal(one.stats.dropped.get('closed'), 1)
  await two.close()
  await assert.rejects(fetch(`http://${endpoint}/metrics`))
  for (let i = 0; i < 3; i++) await (await opened(t, { endpoint })).close()
  const [closed, next] = [two.close(), opened(t, { endpoint })]
  await closed
  report(await next, 'next', 'c', 1)
  assert.deepEqual(await devices(), ['c', 'c'])
})

test('other addresses, methods and hosts are told what is wrong', async (t) => {
  const dir = folder(t)
  writeFileSync(join(dir, 'a.cset'), 'rx')
  writeFileSync(join(dir, 'bad.cset'), 'a b')
  const sink = await opened(t, { endpoint: ANY, csetDir: dir })
  const ask = async (path: string, init?: RequestInit) => {
    const response = await fetch(sink.address + path, init)
    return `${response.status} ${await response.text()}`
  }
  assert.match(
    await ask('/'),
    /^404 nothing is at "\/"; metrics are at \/metrics; of field sets there are: \/cset\/a, \/cset\/bad\n$/,
  )
  assert.match(await ask('/b'), /^404 nothing is at "\/b"/)
  assert.match(await ask('/a/b'), /^404 /)
  assert.match(await ask('/fset/a'), /^404 there is no \.fset "a"; there are: /)
  assert.match(await ask('/cset/..%2fa'), /^404 /)
  assert.match(await ask('/bad'), /^503 .*bad\.cset:1:2 is a blank inside an expression/)
  for (const name of ['faults_total', 'broken'])
    assert.match(await ask('/metrics'), new RegExp(`^sonde_field_sets_${name} 0*1$`, 'm'))
  assert.match(await ask('/metrics', { method: 'POST' }), /^405 metrics are read with GET/)
  assert.equal(await ask('/a', { method: 'HEAD' }), '200 ')
  const request = get(`${sink.address}/metrics`, { headers: { host: 'rebound.example' } })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  response.resume()
  assert.equal(response.statusCode, 421)
})

test('how the label file fares is told in the scrape that is made with it', async (t) => {
  const file = join(folder(t), 'labels')
  writeFileSync(file, 'rack=R1')
  const sink = await opened(t, { endpoint: ANY, metadataFile: file })
  const asked = async () => (await fetch(`${sink.address}/metrics`)).text()
  assert.match(await asked(), /^sonde_label_file_broken\{rack="R1"\} 0+$/m)
  writeFileSync(file, 'rack')
  const text = await asked()
  assert.match(text, /^sonde_label_file_broken\{rack="R1"\} 0*1$/m)
  assert.match(text, /^sonde_label_file_faults_total\{rack="R1"\} 0*1$/m)
  writeFileSync(file, 'rack=R2')
  assert.match(await asked(), /^sonde_label_file_broken\{rack="R2"\} 0+$/m)
})

test('a listener does not keep a process alive that has nothing else to do', async (t) => {
  const module = JSON.stringify(import.meta.resolve('./listener.ts'))
  const program = `const { openPrometheus } = await import(${module}); console.log((await openPrometheus({ endpoint: '${ANY}' }, {})).address)`
  const child = spawn(process.execPath, [...process.execArgv, '--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => child.kill())
  let output = ''
  child.stdout.on('data', (chunk) => (output += chunk))
  const [code] = await once(child, 'close', { signal: AbortSignal.timeout(20_000) })
  assert.equal(code, 0)
  assert.match(output, /^http:\/\/127\.0\.0\.1:\d+\n$/)
})
