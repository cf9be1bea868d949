// Login, settings, the switch of scraping, webhooks and troubleshooting, on one server that wants a login.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import { nodeBody } from '../../packages/agent/src/sources/scraping/test-exporter.ts'
import { needs } from '../debian.ts'
import { runSonde, temporaryDir } from '../sonde-process.ts'
import { assertSound } from './axe.ts'
import { startStage, takePicture } from './browser.ts'

/** The server refuses on purpose, and the browser says so. Nobody is logged in. */
const LOGGED_OUT = {
  expected: /^console: Failed to load resource: the server responded with a status of (400|401|403|429)/,
  before: (page: Page) => page.context().clearCookies(),
}
/** A token that the server does not know, in the form of those that it makes. */
const WRONG = `sonde_${'a'.repeat(43)}`

/** An exporter and a receiver of webhooks. */
async function serveDoubles(t: TestContext) {
  const held: ServerResponse[] = []
  const doubles = { address: '', isHolding: false, isBusy: false, release: () => undefined as undefined }
  const answer = (response: ServerResponse) => void response.end(nodeBody('gpu-node-a', 'llama-0'))
  const server = createServer((request, response) => {
    if (request.method === 'POST') return void response.writeHead(request.url === '/gone' ? 500 : 204).end()
    if (doubles.isHolding) return void held.push(response)
    if (doubles.isBusy) return void response.writeHead(503).end('busy')
    answer(response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  doubles.address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  doubles.release = () => {
    doubles.isHolding = false
    for (const response of held.splice(0)) answer(response)
  }
  return doubles
}

async function login(page: Page, token: string): Promise<void> {
  await page.getByLabel('Token').fill(token)
  await page.getByRole('button', { name: 'Log in' }).click()
}

test('login and settings', needs('chromium-headless-shell'), async (t) => {
  const doubles = await serveDoubles(t)
  const dir = temporaryDir()
  t.after(() => dir.remove())
  const config = join(dir.path, 'sonde.yaml')
  const exporter = { type: 'dcgm_exporter', interval_ms: 1000, timeout_ms: 30_000 }
  const receivers = { chat: `${doubles.address}/chat`, tickets: `${doubles.address}/gone` }
  const data_sources = [{ ...exporter, addresses: [`${doubles.address}/metrics`] }]
  const console = { webhooks: { receivers } }
  writeFileSync(config, JSON.stringify({ access: { required: true }, data_sources, console }))
  const stage = await startStage(t, ['--config', config])
  const shared = ['--config', config, '--data-dir', stage.dataDir]
  const tokenFor = async (name: string, role: string): Promise<string> => {
    const { code, output } = await runSonde(['tokens', 'add', name, '--role', role, ...shared])
    assert.equal(code, 0, output)
    const [token = ''] = /^sonde_\S+$/m.exec(output) ?? []
    return token
  }
  const [viewer, admin] = [await tokenFor('vera', 'viewer'), await tokenFor('ada', 'admin')]

  await t.test('a wrong token is refused, and after several the page says how long to wait', async (t) => {
    const look = async (page: Page): Promise<void> => {
      await page.getByRole('heading', { name: 'Log in to Sonde' }).waitFor()
      await assertSound(page)
      await takePicture(t, page, 'login')
      await login(page, WRONG)
      await page.getByText('This token is unknown or has expired.').waitFor()
      await takePicture(t, page, 'login-refused')
      const tooMany = page.getByText('Too many wrong tokens came from your address.')
      for (let tries = 0; tries < 30 && !(await tooMany.isVisible()); tries++) {
        const answered = page.waitForResponse('**/api/v1/login')
        await login(page, `${WRONG.slice(0, -2)}${10 + tries}`)
        await answered
        await page.getByRole('button', { name: 'Log in' }).waitFor()
      }
      await tooMany.waitFor()
      await assertSound(page)
      await takePicture(t, page, 'login-wait')
      // A right token does not wait.
      await login(page, viewer)
      await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor()
    }
    await stage.visit('/settings', look, LOGGED_OUT)
  })

  await t.test('a viewer sees the settings and cannot change them', async (t) => {
    const look = async (page: Page): Promise<void> => {
      await login(page, viewer)
      await page.getByText('an operator can change these').waitFor()
      await page.getByText('Enabled', { exact: true }).waitFor()
      assert.ok(await page.getByRole('switch').isDisabled())
      assert.equal(await page.getByRole('button', { name: /Change|Send|Undo/ }).count(), 0)
      assert.equal(await page.getByRole('heading', { name: 'Log of changes' }).count(), 0)
      await assertSound(page)
      await takePicture(t, page, 'settings-viewer')
      // The page loads anew, and may show the login before.
      const loaded = page.waitForEvent('load')
      await page.getByRole('button', { name: 'Log out' }).click()
      await loaded
      await page.getByRole('heading', { name: 'Log in to Sonde' }).waitFor()
    }
    await stage.visit('/settings', look, LOGGED_OUT)
  })

  await t.test('an admin changes a parameter, sees the change in history and log, and undoes it', async (t) => {
    const look = async (page: Page): Promise<void> => {
      await login(page, admin)
      await page.getByRole('button', { name: 'Change gpu_metrics_max_pods' }).click()
      await page.getByLabel('New value').fill('501')
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByText('must be at most 500 (got 501)').waitFor()
      await assertSound(page)
      await page.getByLabel('New value').fill('7')
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByText('set by ada').waitFor()
      const history = page.locator('[aria-labelledby="param-history"]')
      await history.getByText('gpu_metrics_max_pods default → 7').waitFor()
      await page.locator('[aria-labelledby="audit"]').getByText('gpu_metrics_max_pods: default → 7').waitFor()
      await takePicture(t, page, 'settings')
      await page.getByRole('button', { name: 'Undo the last' }).click()
      await history.getByText('gpu_metrics_max_pods 7 → default').waitFor()
    }
    await stage.visit('/settings', look, LOGGED_OUT)
  })

  await t.test('the switch shows each state that the scraper reports', async (t) => {
    const look = async (page: Page): Promise<void> => {
      await login(page, admin)
      const panel = page.locator('[aria-labelledby="gpu-scraper"]')
      const untilState = (word: string) => panel.getByText(word, { exact: true }).waitFor()
      await untilState('Enabled')
      await page.getByRole('switch', { name: 'Scrape GPU exporters' }).click()
      await untilState('Disabled')
      await takePicture(t, page, 'scraper-disabled')
      doubles.isHolding = true
      await page.getByRole('switch', { name: 'Scrape GPU exporters' }).click()
      await untilState('Enabling…')
      await assertSound(page)
      await takePicture(t, page, 'scraper-enabling')
      doubles.release()
      await untilState('Enabled')
      doubles.isBusy = true
      await untilState('Error')
      await panel.getByText('answers 503').waitFor()
      await takePicture(t, page, 'scraper-error')
      doubles.isBusy = false
      await panel.getByRole('button', { name: 'Reset' }).click()
      await untilState('Enabled')
    }
    await stage.visit('/settings', look, LOGGED_OUT)
  })

  await t.test('a test of a webhook shows its result, and both are listed', async (t) => {
    const look = async (page: Page): Promise<void> => {
      await login(page, admin)
      await page.getByRole('button', { name: 'Send test to chat' }).click()
      const receivers = page.locator('[aria-labelledby="webhooks"]')
      await receivers.getByText('Delivered, status 204').waitFor()
      await page.getByRole('button', { name: 'Send test to tickets' }).click()
      await receivers.getByText('Failed: status 500').waitFor()
      const deliveries = page.locator('[aria-labelledby="deliveries"]')
      await deliveries.getByText('Failed: status 500').first().waitFor()
      assert.doesNotMatch(await page.locator('main').innerText(), /\/gone|:\/\/127/, 'no more than the host')
      await assertSound(page)
      await takePicture(t, page, 'webhooks')
    }
    await stage.visit('/settings', look, LOGGED_OUT)
  })

  await t.test('troubleshooting shows each hop, and the commands of the reader', async (t) => {
    const look = async (page: Page): Promise<void> => {
      await login(page, admin)
      await page.getByRole('heading', { name: 'Device plugin' }).waitFor()
      assert.equal(await page.locator('.hop').count(), 7)
      await page.getByText('kubectl get pods -A -l app.kubernetes.io/name=dcgm-exporter').waitFor()
      await page.getByRole('button', { name: 'GPU Operator' }).click()
      await page.getByText('kubectl get pods -A -l app=nvidia-dcgm-exporter').waitFor()
      await page.getByText('Broken: Webhooks.', { exact: true }).waitFor()
      await assertSound(page)
      await takePicture(t, page, 'troubleshooting')
      await page.getByRole('button', { name: 'sonde ps', exact: true }).click()
      await page.getByText(/ps --prometheus/).waitFor()
      assert.equal(new URL(page.url()).search, '?exporter=operator&program=ps')
    }
    await stage.visit('/troubleshooting', look, LOGGED_OUT)
  })

  await t.test(
    'the page of an app has the badge of telemetry, and leads to Grafana as the parameters say',
    async () => {
      const grafana = ['grafana_url=http://grafana.test/', 'grafana_dashboard_var_app=application']
      const { code, output } = await runSonde(['params', 'set', ...grafana, ...shared])
      assert.equal(code, 0, output)
      const look = async (page: Page): Promise<void> => {
        await login(page, viewer)
        const link = await page.getByRole('link', { name: 'Open in Grafana' }).getAttribute('href')
        assert.match(link ?? '', /^http:\/\/grafana\.test\/d\/.*[?&]var-application=llama(&|$)/)
        await page.getByRole('button', { name: 'Dashboard filter mismatch?' }).click()
        await page.getByText('now var-application').waitFor()
        await page.getByRole('button', { name: 'Close' }).click()
        const badge = page.getByRole('link', { name: 'Telemetry Enabled' })
        await badge.waitFor()
        await badge.click()
        await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor()
      }
      await stage.visit('/apps/llama/gpu', look, LOGGED_OUT)
    },
  )

  await t.test('no address leads elsewhere, before or after a login', async () => {
    for (const path of [
      '//evil.test/settings',
      '/%2f%2fevil.test',
      '/settings?next=//evil.test',
      '/settings/..//evil.test',
    ]) {
      const headers = { accept: 'text/html' }
      const answer = await fetch(stage.address + path, { redirect: 'manual', headers })
      assert.deepEqual(
        [answer.status === 200 || answer.status === 404, answer.headers.get('location')],
        [true, null],
        path,
      )
    }
    const look = async (page: Page): Promise<void> => {
      await login(page, admin)
      await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor()
      assert.equal(page.url(), `${stage.address}/settings?next=//evil.test`)
    }
    await stage.visit('/settings?next=//evil.test', look, LOGGED_OUT)
  })

  await t.test('a page whose session ended asks for a login, and stays at its address', async () => {
    const look = async (page: Page): Promise<void> => {
      await login(page, viewer)
      await page.getByText('an operator can change these').waitFor()
      const { code, output } = await runSonde(['tokens', 'remove', 'vera', ...shared])
      assert.equal(code, 0, output)
      await page.getByRole('heading', { name: 'Log in to Sonde' }).waitFor()
      await login(page, admin)
      await page.getByRole('button', { name: 'Undo the last' }).waitFor()
      assert.equal(new URL(page.url()).pathname, '/settings')
    }
    await stage.visit('/settings', look, LOGGED_OUT)
  })
})
