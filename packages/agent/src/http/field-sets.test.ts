import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { until } from '../../../sdk/test/helper.ts'
import { serveAgent } from '../../test/served-agent.ts'

interface Served {
  readonly address: string
  /** Status and names of the samples, or the message of an error. */
  ask(path: string, headers?: Record<string, string>): Promise<{ status: number; names: string[]; message: string }>
  write(file: string, text: string): void
}

async function serve(t: TestContext, prometheus: object = {}): Promise<Served> {
  const dir = mkdtempSync(join(tmpdir(), 'sonde-sets-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  const { agent, address } = await serveAgent(t, { prometheus: { fset_dir: dir, ...prometheus } })
  await until('a sample', () => agent.sources[0]?.state === 'reading')
  return {
    address,
    write: (file, text) => writeFileSync(join(dir, file), text),
    async ask(path, headers = {}) {
      const response = await fetch(`${address}${path}`, { headers })
      const text = await response.text()
      const message = response.headers.get('content-type')?.startsWith('application/json') ? text : ''
      const lines = text.split('\n').filter((line) => message === '' && line !== '' && !line.startsWith('#'))
      return { status: response.status, names: [...new Set(lines.map((line) => line.replace(/[{ ].*/, '')))], message }
    },
  }
}

test('/cset/NAME, /fset/NAME and /NAME serve what the files of that name let pass, with new files and changes at once', async (t) => {
  const { ask, write } = await serve(t)
  write('a.cset', '^steady_samples')
  assert.deepEqual((await ask('/cset/a')).names, ['steady_samples_total'])
  assert.deepEqual((await ask('/a')).names, ['steady_samples_total'])
  assert.equal((await ask('/fset/a')).status, 404)
  write('a.fset', '[steady]\nsampled_ms')
  assert.deepEqual((await ask('/fset/a')).names, ['steady_sampled_ms'])
  assert.deepEqual((await ask('/cset/a')).names, ['steady_samples_total'])
  assert.deepEqual((await ask('/a?x=1')).names, ['steady_sampled_ms'])
  write('a.fset', '[steady]\n')
  assert.deepEqual((await ask('/a')).names, ['steady_samples_total', 'steady_sampled_ms'])
  assert.ok((await ask('/metrics')).names.includes('steady_sampled_ms'))
})

test('formats, gzip and HEAD are those of /metrics', async (t) => {
  const { address, write } = await serve(t)
  write('a.cset', '^steady_samples')
  for (const path of ['/cset/a', '/a']) {
    const open = await fetch(`${address}${path}`, { headers: { accept: 'application/openmetrics-text' } })
    assert.match(await open.text(), /^# TYPE steady_samples counter[\s\S]*# EOF\n$/)
    const head = await fetch(`${address}${path}`, { method: 'HEAD' })
    assert.equal(head.status, 200)
    assert.ok(Number(head.headers.get('content-length')) > 100)
    assert.equal(head.headers.get('vary'), 'Accept, Accept-Encoding')
    assert.equal(await head.text(), '')
    const post = await fetch(`${address}${path}`, { method: 'POST' })
    assert.equal(post.status, path === '/a' ? 404 : 405)
    assert.equal(post.headers.get('allow'), path === '/a' ? null : 'GET, HEAD')
  }
})

test('?set=core leaves out what is full, also of a field set; another set is refused with those that there are', async (t) => {
  const { ask, write } = await serve(t)
  write('a.cset', '^steady_s')
  write('b.cset', 'sonde_http_refused')
  const isThere = ({ names }: { names: string[] }) => names.includes('sonde_http_refused_requests_total')
  await until('its own metrics', async () => isThere(await ask('/metrics?set=full')))
  const core = await ask('/metrics?set=core')
  assert.ok(core.names.includes('steady_samples_total') && !isThere(core))
  assert.deepEqual((await ask('/cset/a?set=core')).names, (await ask('/cset/a')).names)
  assert.deepEqual((await ask('/b?x=1&set=core')).names, [])
  for (const path of ['/metrics?set=most', '/a?set=', '/cset/a?set=core&set=core']) {
    const { status, message } = await ask(path)
    assert.equal(status, 400, path)
    assert.match(message, /"code":"SET_CLASS","message":"set is .*; allowed: core, full, once"/)
  }
})

test('a name that no file has is answered with 404 and the names that there are', async (t) => {
  const { ask, write } = await serve(t)
  write('a.cset', '')
  write('b.fset', '')
  for (const [path, message] of [
    ['/cset/b', /"code":"SET_UNKNOWN","message":"there is no \.cset \\"b\\"; there are: \/cset\/a, \/fset\/b"/],
    [
      '/c',
      /"code":"HTTP_NOT_FOUND","message":"nothing is at \\"\/c\\"; of field sets there are: \/cset\/a, \/fset\/b"/,
    ],
    ['/cset/..%2Fa', /SET_UNKNOWN/],
    ['/c/d', /"message":"nothing is at \\"\/c\/d\\""/],
  ] as const) {
    const answer = await ask(path)
    assert.equal(answer.status, 404, path)
    assert.match(answer.message, message)
  }
})

test('without a folder there are no sets, and no address is another one than before', async (t) => {
  const { ask } = await serve(t, { fset_dir: undefined })
  assert.match((await ask('/c')).message, /"message":"nothing is at \\"\/c\\""/)
  assert.match((await ask('/cset/c')).message, /no folder of field sets is set: .*cset_dir and fset_dir/)
})

test('files cannot take the place of routes', async (t) => {
  const { ask, write } = await serve(t)
  for (const name of ['metrics', 'healthz', 'readyz', 'api']) write(`${name}.cset`, '^$')
  assert.ok((await ask('/metrics')).names.includes('steady_sampled_ms'))
  assert.match((await ask('/healthz')).message, /"status":"ok"/)
  assert.match((await ask('/readyz')).message, /"status":"ready"/)
  assert.deepEqual((await ask('/cset/metrics')).names, [])
})

test('a broken file is served as it last was, and counted in /metrics; one that never was sound is 503 with file and line', async (t) => {
  const { address, ask, write } = await serve(t)
  write('a.cset', '^steady_samples')
  assert.equal((await ask('/a')).status, 200)
  write('a.cset', 'a b')
  assert.deepEqual((await ask('/a')).names, ['steady_samples_total'])
  write('b.cset', '\n\na b')
  const broken = await ask('/b')
  assert.equal(broken.status, 503)
  assert.match(broken.message, /"code":"SET_SYNTAX","message":"[^"]*b\.cset:3:2 is a blank inside an expression/)
  await until('both to be told', async () => {
    const text = await (await fetch(`${address}/metrics`)).text()
    return /^sonde_field_sets_faults_total 0*2$/m.test(text) && /^sonde_field_sets_broken 0*2$/m.test(text)
  })
})

test('a label file that turns bad goes on as it last was, and is counted in /metrics', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'sonde-labels-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  const file = join(dir, 'labels')
  writeFileSync(file, 'rack=R1')
  const { address } = await serve(t, { metadata_file: file })
  writeFileSync(file, 'rack=R2')
  assert.match(await (await fetch(`${address}/metrics`)).text(), /^steady_samples_total\{.*rack="R2"/m)
  writeFileSync(file, 'rack')
  await until('it to be told', async () => {
    const text = await (await fetch(`${address}/metrics`)).text()
    return (
      /^sonde_label_file_faults_total\{rack="R2"\} 0*1$/m.test(text) &&
      /^sonde_label_file_broken\{.*\} 0*1$/m.test(text)
    )
  })
})

test('a foreign Host is refused as for /metrics', async (t) => {
  const { address, write } = await serve(t)
  write('a.cset', '')
  for (const path of ['/cset/a', '/a', '/metrics']) {
    const request = get(`${address}${path}`, { headers: { host: 'rebound.example' } })
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    response.resume()
    assert.equal(response.statusCode, 421, path)
  }
})
