import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { metricsOf, numberOn } from '../ask.ts'
import { needs } from '../debian.ts'
import { startSonde, until } from '../sonde-process.ts'
import { SHOW_LIMIT_MS, startBrowser } from './browser.ts'

const STREAM = `/api/v1/stream?q=${encodeURIComponent('{"queries":[{"metric":"netdev_rx_bytes_total"}]}')}`
const QUERY = `/api/v1/query?q=${encodeURIComponent('{"queries":[{"metric":"netdev_rx_bytes_total"}]}')}`
const REFUSED = 'sonde_http_refused_requests_total{reason="cross_site"}'

/**
 * A page on `localhost`, which is another site than `127.0.0.1`, that makes its browser ask for what Sonde keeps places
 * for.
 */
async function serveForeignPage(t: TestContext, sonde: string): Promise<string> {
  const html = `<!doctype html><a href="${sonde}/metrics">metrics</a><img src="${sonde}${QUERY}"><script>
    let failed = 0
    const count = () => { document.title = 'failed ' + ++failed }
    for (let i = 0; i < 3; i++) new EventSource('${sonde}${STREAM}').onerror = count
    fetch('${sonde}${QUERY}').catch(count)
    document.images[0].onerror = count
    fetch('${sonde}/metrics', { mode: 'no-cors' }).then(count, count)
  </script>`
  const server = createServer((_request, response) => response.setHeader('content-type', 'text/html').end(html))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return `http://localhost:${(server.address() as AddressInfo).port}/`
}

test(
  'a page of another site takes no place of streams and queries, and may link to metrics',
  needs('chromium-headless-shell'),
  async (t) => {
    const sonde = await startSonde(['agent', '--log-level', 'warn'], { env: { SONDE_LIMITS_STREAM_CLIENTS: '1' } })
    t.after(() => sonde.stop('SIGKILL'))
    const browser = await startBrowser()
    t.after(() => browser.close())
    const page = await browser.newPage()
    page.setDefaultTimeout(SHOW_LIMIT_MS)
    await page.goto(await serveForeignPage(t, sonde.address))
    await page.waitForFunction(() => document.title === 'failed 6')
    const text = await until('six refusals', SHOW_LIMIT_MS, async () => {
      const metrics = await metricsOf(sonde)
      return (numberOn(metrics, REFUSED) ?? 0) >= 6 && metrics
    })
    assert.equal(numberOn(text, 'sonde_http_streams'), 0)
    const own = await fetch(sonde.address + STREAM)
    assert.equal(own.status, 200, 'the only place for a stream is free')
    await own.body?.cancel()
    const [answer] = await Promise.all([page.waitForNavigation(), page.click('a')])
    assert.equal(answer?.status(), 200)
    assert.match(await page.content(), /netdev_rx_bytes_total/)
  },
)
