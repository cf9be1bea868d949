import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { isOfPage } from './page.ts'

test('the addresses that are served as views are those that the page has', () => {
  const app = readFileSync(new URL('../web/app.tsx', import.meta.url), 'utf8')
  const paths = [...app.matchAll(/<Route path="([^"]+)"/g)].map(([, path]) => path ?? '')
  assert.ok(paths.length >= 5)
  const views = paths.map((path) => path.replace(/:\w+/g, 'eth0'))
  for (const view of views) assert.ok(isOfPage(view), view)
  for (const view of views.filter((each) => each !== '/nodes')) {
    const ofNode = `/nodes/a${view}`.replace(/\/$/, '')
    assert.ok(isOfPage(ofNode), ofNode)
  }
  for (const path of [
    '/nodes/a/b',
    '/nodes/a/nodes',
    '/nodes/a/gpus/0/more',
    '/setting',
    '/explore/netdev',
    '/gpus/0/more',
    '/fabric/eth0/1/more',
    '/metrics',
    '/m',
  ])
    assert.equal(isOfPage(path), false, path)
})

test('what the page ships is not the place of anything else', () => {
  for (const path of ['/assets', '/assets/a.js']) assert.ok(isOfPage(path), path)
})
