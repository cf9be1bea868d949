import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { ApiServerDouble, apiPod } from '../../../../../test/doubles/api-server/api-server-double.ts'
import { until } from '../../../../sdk/test/helper.ts'
import { TestNode } from '../test-node.ts'
import { ApiServer } from './api-server.ts'
import { PodCache } from './pod-cache.ts'
import { PodWatch } from './pod-watch.ts'
import { gpuResources } from './resources.ts'

/** A watch over a double, with a clock that the test sets. */
async function bringUp(t: TestContext, { limit = 4096, tokenFile = '' } = {}) {
  const api = await ApiServerDouble.start(t)
  const server = new ApiServer({ address: api.address, tokenFile, caFile: '', timeoutMs: 5000, bytesMax: 1 << 20 })
  const cache = new PodCache(limit)
  const facts = { labels: new Set(['app']), isGpu: gpuResources([]) }
  const failures: string[] = []
  const clock = { nowMs: 0 }
  const failed = ({ message }: Error) => void failures.push(message)
  const watch = new PodWatch({ server, cache, facts, nodeName: 'node-a', failed, now: () => clock.nowMs })
  t.after(() => watch.close())
  const names = () => [...cache.all()].map(({ name }) => name).sort()
  return { api, cache, watch, failures, clock, names }
}

test('a list, then the changes of a watch; pods of other nodes are not read', async (t) => {
  const { api, cache, watch, names } = await bringUp(t)
  api.put(apiPod('a', { labels: { app: 'chat', other: 'x' }, gpus: 2 }), apiPod('b', { node: 'node-b' }))
  await watch.step()
  assert.deepEqual(names(), ['a'])
  const { labels, requestedGpus, phase, startedS } = cache.get('ml', 'a') ?? {}
  assert.deepEqual([labels, requestedGpus, phase, startedS], [{ app: 'chat' }, 2, 'Running', 1767225600])
  api.put(apiPod('c', { phase: 'Pending', waiting: 'ImagePullBackOff' }), apiPod('d', { node: 'node-b' }))
  api.remove('a')
  await until('the changes', () => names().join() === 'c')
  assert.equal(cache.get('ml', 'c')?.waiting, 'ImagePullBackOff')
})

test('a long list comes in pages; 410 in the middle starts it again', async (t) => {
  const { api, watch, names } = await bringUp(t)
  api.put(...Array.from({ length: 1200 }, (_, i) => apiPod(`p${i}`)))
  let pages = 0
  api.fault = (url) => {
    if (url.searchParams.has('continue') && ++pages === 2) api.compact()
    return false
  }
  await watch.step()
  assert.equal(names().length, 1200)
  const lists = api.requests.filter((path) => !path.includes('watch=true'))
  assert.equal(lists.length, 3 + 3, `${lists}`)
})

test('a watch that ends continues after its last bookmark, without a new list', async (t) => {
  const { api, watch, clock, names } = await bringUp(t)
  api.put(apiPod('a'))
  await watch.step()
  // A change of another node raises the version, which only a bookmark tells.
  api.put(apiPod('x', { node: 'node-b' }))
  api.bookmark()
  api.put(apiPod('b'))
  await until('the change', () => names().length === 2)
  api.endWatches()
  await until('the end', () => !watch.isWatching)
  api.put(apiPod('c'))
  clock.nowMs += 1000
  await watch.step()
  await until('the change in between', () => names().length === 3)
  assert.equal(api.requests.filter((path) => !path.includes('watch=true')).length, 1)
})

test('a version that is too old, as an answer and as an event, leads to a new list', async (t) => {
  const { api, watch, clock, names } = await bringUp(t)
  api.put(apiPod('a'))
  await watch.step()
  api.sendLine(JSON.stringify({ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } }))
  await until('the end', () => !watch.isWatching)
  api.remove('a')
  api.put(apiPod('b'))
  clock.nowMs += 60_000
  await watch.step()
  assert.deepEqual(names(), ['b'])
  api.endWatches()
  await until('the second end', () => !watch.isWatching)
  api.put(apiPod('c'))
  api.compact()
  clock.nowMs += 60_000
  // 410 to the watch, then the new list.
  api.fault = (url, _, response) => {
    if (!url.searchParams.has('watch')) return false
    response.writeHead(410).end()
    return true
  }
  await watch.step()
  api.fault = undefined
  clock.nowMs += 60_000
  await watch.step()
  assert.deepEqual(names(), ['b', 'c'])
})

test('a false version costs a pause each time, and the pods stay', async (t) => {
  const { api, watch, clock, failures, names } = await bringUp(t)
  api.put(apiPod('a'))
  api.fault = (url, _, response) => {
    if (!url.searchParams.has('watch')) return false
    response.writeHead(410).end()
    return true
  }
  for (let second = 0; second < 120; second++) {
    await watch.step()
    clock.nowMs += 1000
  }
  const lists = api.requests.filter((path) => !path.includes('watch=true'))
  assert.ok(lists.length < 12, `${lists.length} lists in two minutes`)
  assert.deepEqual(names(), ['a'])
  assert.deepEqual(failures, [])
})

for (const [name, line, reason] of [
  ['no JSON', '{"type":', /without a type/],
  ['no version', JSON.stringify({ type: 'ADDED', object: apiPod('z') }), /without a type or a valid resourceVersion/],
  ['an event without an end', 'x'.repeat(5 << 20), /broke the watch off/],
] as const) {
  test(`a watch that sends ${name} ends, is told, and starts again with a list`, async (t) => {
    const { api, watch, clock, failures, names } = await bringUp(t)
    api.put(apiPod('a'))
    await watch.step()
    api.sendLine(line)
    await until('the end', () => !watch.isWatching)
    assert.match(failures.join(), reason)
    api.put(apiPod('b'))
    clock.nowMs += 60_000
    await watch.step()
    await until('both pods', () => names().join() === 'a,b')
  })
}

test('a token that expired is told without its text; the renewed token is read from the file', async (t) => {
  const node = new TestNode(t)
  const tokenFile = join(node.root, 'token')
  writeFileSync(tokenFile, 'first-secret\n')
  const { api, watch, clock, names } = await bringUp(t, { tokenFile })
  api.tokens = ['first-secret']
  api.put(apiPod('a'))
  await watch.step()
  api.tokens = ['second-secret']
  api.endWatches()
  await until('the end', () => !watch.isWatching)
  clock.nowMs += 60_000
  await assert.rejects(watch.step(), (error: Error) => {
    assert.match(error.message, /refuses the token \(401\)/)
    assert.doesNotMatch(error.message, /secret/)
    return true
  })
  writeFileSync(tokenFile, 'second-secret\n')
  api.put(apiPod('b'))
  clock.nowMs += 60_000
  await watch.step()
  await until('both pods', () => names().join() === 'a,b')
})

test('pods above the limit are counted; a server that never ends its list is refused', async (t) => {
  const { api, cache, watch, clock } = await bringUp(t, { limit: 16 })
  api.put(...Array.from({ length: 20 }, (_, i) => apiPod(`p${i}`)))
  await watch.step()
  assert.equal(cache.count, 16)
  assert.equal(cache.takeLeftOut(), 4)
  api.compact()
  api.endWatches()
  await until('the end', () => !watch.isWatching)
  api.fault = (url, _, response) => {
    if (url.searchParams.has('watch')) return false
    const metadata = { resourceVersion: '200', continue: 'more' }
    response.end(JSON.stringify({ metadata, items: [] }))
    return true
  }
  clock.nowMs += 60_000
  await watch.step()
  await until('the refusal', () => !watch.isWatching)
  clock.nowMs += 60_000
  await assert.rejects(watch.step(), /does not end its list/)
  assert.equal(cache.count, 16, 'the known pods stay')
})

test('an answer that is forbidden says which right is missing', async (t) => {
  const { api, watch } = await bringUp(t)
  api.fault = (_, __, response) => {
    response.writeHead(403).end()
    return true
  }
  await assert.rejects(watch.step(), /forbids it \(403\).*get, list and watch of pods/)
})
