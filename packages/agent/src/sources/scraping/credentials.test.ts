import assert from 'node:assert/strict'
import { renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { dcgmExporter } from '../dcgm-exporter/dcgm-exporter.ts'
import { TestedSource, TestNode } from '../test-node.ts'
import { refuseCredentials } from './credentials.ts'
import type { ScrapingOptions } from './options.ts'
import { fixture, serveExporter, withBody } from './test-exporter.ts'

const SECRET = 'a-word-nobody-sees'

/** An exporter that requires an authorization header, and a source with credential files. */
async function guarded(t: TestContext, expected: string, files: Readonly<Record<string, string>>, more: object = {}) {
  const served = await serveExporter('')
  const seen: (string | undefined)[] = []
  served.answer = (request, response) => {
    seen.push(request.headers.authorization)
    if (request.headers.authorization === expected) withBody(fixture('kubernetes'))(request, response)
    else response.writeHead(401).end()
  }
  const node = new TestNode(t)
  const options = Object.entries(files).map(([option, text]) => {
    const path = join(node.root, option)
    writeFileSync(path, text)
    return [option, path]
  })
  const tested = new TestedSource(dcgmExporter, node.paths, {
    ...{ addresses: [served.address], ...more },
    ...Object.fromEntries(options),
  })
  t.after(async () => {
    await tested.source.close()
    served.close()
  })
  return { tested, served, seen, pathOf: (option: string) => join(node.root, option) }
}

test('a name and the password of a file are sent', async (t) => {
  const expected = `Basic ${Buffer.from(`sonde:${SECRET}`).toString('base64')}`
  const { tested } = await guarded(t, expected, { password_file: `${SECRET}\n` }, { username: 'sonde' })
  await tested.source.sample()
})

test('a token that changes is sent as it is now; an exporter that refuses it is told without it', async (t) => {
  const { tested, pathOf } = await guarded(t, `Bearer ${SECRET}`, { bearer_token_file: SECRET })
  await tested.source.sample()
  writeFileSync(pathOf('bearer_token_file'), `${SECRET}-old`)
  await assert.rejects(tested.source.sample(), (error: Error) => {
    assert.match(error.message, /refuses \(401\); give username and password_file, bearer_token_file/)
    assert.doesNotMatch(`${error.stack}${JSON.stringify(tested.take(), (_, v) => String(v))}`, new RegExp(SECRET))
    return true
  })
})

test('a token may be a link, as Kubernetes mounts it', async (t) => {
  const { tested, pathOf } = await guarded(t, `Bearer ${SECRET}`, { bearer_token_file: SECRET })
  const path = pathOf('bearer_token_file')
  renameSync(path, `${path}.now`)
  symlinkSync(`${path}.now`, path)
  await tested.source.sample()
})

test('a file that holds nothing to send is told by its path, and nothing is asked', async (t) => {
  const { tested, served, pathOf } = await guarded(t, '', { bearer_token_file: 'one\ntwo\n' })
  const told = { code: 'SRC_CREDENTIALS', message: /bearer_token_file .* is empty or has several lines/ }
  await assert.rejects(tested.source.sample(), told)
  writeFileSync(pathOf('bearer_token_file'), '')
  await assert.rejects(tested.source.sample(), told)
  assert.equal(served.requests, 0)
})

test('a redirect gets the exporter nothing of a token elsewhere', async (t) => {
  const { tested, served } = await guarded(t, '', { bearer_token_file: SECRET })
  const elsewhere = await serveExporter(fixture('kubernetes'))
  t.after(() => elsewhere.close())
  served.answer = (_, response) => void response.writeHead(307, { location: elsewhere.address }).end()
  await assert.rejects(tested.source.sample(), /redirects to .*which is not followed/)
  assert.equal(elsewhere.requests, 0)
})

test('an exporter that repeats what it was shown brings no secret into a message', async (t) => {
  const { tested, served } = await guarded(t, '', { bearer_token_file: SECRET })
  const echoes: readonly (typeof served.answer)[] = [
    ({ headers }, response) => void response.writeHead(307, { location: `/?${headers.authorization}` }).end(),
    ({ headers }, response) => void response.writeHead(200, { 'content-encoding': headers.authorization }).end(),
    ({ headers }, response) => void response.writeHead(500, headers.authorization).end(headers.authorization),
    ({ headers }, response) => void response.end(`DCGM_FI_DEV_GPU_TEMP{UUID="a"} ${headers.authorization}\n`),
  ]
  for (const echo of echoes) {
    served.answer = echo
    const error = await tested.source.sample().then(
      () => undefined,
      (thrown: unknown) => thrown as Error,
    )
    const told = [error?.stack, ...tested.failures.map(({ message }) => message), tested.take()]
    assert.doesNotMatch(
      JSON.stringify(told, (_, value) => (typeof value === 'bigint' ? '' : value)),
      new RegExp(SECRET),
    )
  }
})

test('keys that do not go together are refused with what is allowed', () => {
  const refusalOf = (more: Partial<ScrapingOptions>) => () =>
    refuseCredentials({
      interval_ms: 1,
      addresses: [],
      timeout_ms: 1,
      max_bytes: 1,
      max_cpu_ms: 1000,
      max_series: 1,
      ...more,
    })
  const both = { username: 'a', password_file: '/p' }
  assert.throws(refusalOf({ username: 'a' }), /username and password_file go together/)
  assert.throws(refusalOf({ password_file: '/p' }), /username and password_file go together/)
  assert.throws(refusalOf({ cert_file: '/c' }), /cert_file and key_file go together/)
  assert.throws(refusalOf({ ...both, bearer_token_file: '/t' }), /allowed: one of them/)
  assert.throws(refusalOf({ ...both, username: 'a:b' }), /has a colon/)
  refusalOf(both)()
  refusalOf({})()
})
