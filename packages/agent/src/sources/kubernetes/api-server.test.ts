import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { needs } from '../../../../../test/debian.ts'
import { ApiServerDouble, apiPod } from '../../../../../test/doubles/api-server/api-server-double.ts'
import { TestCa } from '../../../../sdk/test/certificates.ts'
import { TestNode } from '../test-node.ts'
import { ApiServer } from './api-server.ts'

const NEEDS = needs('openssl')
const PODS = '/api/v1/pods?fieldSelector=spec.nodeName%3Dnode-a'
const FOREVER = new AbortController().signal

/**
 * A server with TLS, and the folder of a service account. Kubernetes renews such a folder by a link to another one: the
 * files themselves are links through `..data`.
 */
async function bringUp(t: TestContext, subject = 'IP:127.0.0.1') {
  const { root } = new TestNode(t)
  const ca = new TestCa(root)
  const { cert, key } = ca.sign('server', subject)
  const api = await ApiServerDouble.start(t, { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') })
  api.put(apiPod('a'), apiPod('b', { node: 'node-b' }))
  const account = join(root, 'account')
  mkdirSync(account)
  let renewals = 0
  const renew = (token: string, caFile: string) => {
    const folder = `data-${renewals++}`
    mkdirSync(join(account, folder))
    writeFileSync(join(account, folder, 'token'), `${token}\n`)
    writeFileSync(join(account, folder, 'ca.crt'), readFileSync(caFile))
    symlinkSync(folder, join(account, '..next'))
    renameSync(join(account, '..next'), join(account, '..data'))
  }
  renew('first', ca.caFile)
  for (const name of ['token', 'ca.crt']) symlinkSync(`..data/${name}`, join(account, name))
  api.tokens = ['first']
  const files = { tokenFile: join(account, 'token'), caFile: join(account, 'ca.crt') }
  const serverWith = (given: Partial<typeof files> = {}) =>
    new ApiServer({ address: api.address, ...files, ...given, timeoutMs: 20_000, bytesMax: 1 << 20 })
  const otherCa = () => {
    mkdirSync(join(root, 'other'))
    return new TestCa(join(root, 'other'), 'other').caFile
  }
  return { api, ca, renew, serverWith, otherCa }
}

const namesIn = (text: string | undefined) =>
  (JSON.parse(text ?? '{}') as { items: { metadata: { name: string } }[] }).items.map(({ metadata }) => metadata.name)

async function listed(server: ApiServer): Promise<readonly string[]> {
  const answer = await server.list(PODS, FOREVER)
  return answer.status === 200 ? namesIn(answer.text) : []
}

test(
  'a service account: CA and token from its files, which the same client reads again when they are renewed',
  NEEDS,
  async (t) => {
    const { api, ca, renew, serverWith, otherCa } = await bringUp(t)
    const server = serverWith()
    assert.deepEqual(await listed(server), ['a'])
    api.tokens = ['second']
    await assert.rejects(listed(server), {
      code: 'SRC_API_SERVER',
      message: /refuses the token \(401\); look at api_token/,
    })
    renew('second', ca.caFile)
    assert.deepEqual(await listed(server), ['a'])
    renew('second', otherCa())
    await assert.rejects(listed(server), /not trusted/)
    await assert.rejects(server.watch(`${PODS}&watch=true`, FOREVER), /not trusted/)
    renew('second', ca.caFile)
    const watch = await server.watch(`${PODS}&watch=true`, FOREVER)
    watch?.destroy()
    assert.equal(watch?.statusCode, 200)
  },
)

test(
  'a certificate of another CA, of no known CA, or of another name is refused before the token is sent',
  NEEDS,
  async (t) => {
    const { api, serverWith, otherCa } = await bringUp(t)
    await assert.rejects(listed(serverWith({ caFile: otherCa() })), {
      ...{ code: 'SRC_API_SERVER' },
      message: /^the API server https:\S+ has a certificate that is not trusted by api_ca_file \S+other\/other\.pem: /,
    })
    await assert.rejects(
      listed(serverWith({ caFile: '' })),
      /not trusted by the certificates of Node; api_ca_file names/,
    )
    const elsewhere = await bringUp(t, 'IP:127.0.0.9')
    await assert.rejects(listed(elsewhere.serverWith()), /not trusted by api_ca_file .*does not match/)
    assert.deepEqual([...api.requests, ...elsewhere.api.requests], [])
  },
)

test('a folder without a token says which option names it', NEEDS, async (t) => {
  const { serverWith } = await bringUp(t)
  await assert.rejects(listed(serverWith({ tokenFile: '/nowhere/token' })), /api_token_file \/nowhere\/token .*ENOENT/)
})
