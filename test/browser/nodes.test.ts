// The nodes of a console, and the page of one of them, over two real agents and one that is gone.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NodeAnswer, NodesAnswer } from '@sonde/sdk/api'
import { setUpWeb } from '../../scripts/setup.mjs'
import { needs } from '../debian.ts'
import { startSonde } from '../sonde-process.ts'
import { assertSound } from './axe.ts'
import { SCREENS, SHOW_LIMIT_MS, startBrowser, takePicture } from './browser.ts'
import { assertTame, hostileName, IMAGE } from './hostile.ts'

test(
  'a console lists its nodes and their versions, and leads to the page of each',
  needs('chromium-headless-shell'),
  async (t) => {
    if (!(await setUpWeb())) assert.fail('the page could not be built')
    const start = async (args: string[], env: Record<string, string> = {}) => {
      const sonde = await startSonde([...args, '--log-level', 'error'], { env })
      t.after(() => sonde.stop('SIGKILL'))
      return sonde.address
    }
    const [one, two] = await Promise.all([start(['agent', '--only-simulated']), start(['up', '--only-simulated'])])
    const address = await start(['console'], {
      SONDE_CONSOLE_AGENTS_URLS: `gpu17=${one},gpu18=${two},gpu19=http://127.0.0.1:1`,
    })
    const browser = await startBrowser()
    t.after(() => browser.close())
    const page = await (await browser.newContext({ viewport: SCREENS.desk })).newPage()
    const faults: string[] = []
    page.on('pageerror', (error) => faults.push(String(error)))
    page.on('request', (request) => {
      if (!request.url().startsWith(address)) faults.push(request.url())
    })
    await page.goto(`${address}/`)
    await page.getByText('1 of 3 nodes cannot be asked: gpu19.').waitFor({ timeout: SHOW_LIMIT_MS })
    assert.equal(new URL(page.url()).pathname, '/nodes')
    const nodes = page.getByRole('table').first()
    await nodes.getByText('127.0.0.1:1 refuses the connection').waitFor()
    const versions = page.getByRole('region', { name: 'Versions' })
    await versions.getByText('MT4129 28.43.2566').nth(1).waitFor({ timeout: SHOW_LIMIT_MS })
    for (const [name, size] of Object.entries(SCREENS)) {
      await page.setViewportSize(size)
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        await assertSound(page, { contrastOnly: colorScheme === 'dark' })
        await takePicture(t, page, `nodes-${name}-${colorScheme}`)
      }
      const over = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      )
      assert.equal(over, 0, `nothing scrolls sideways at ${name}`)
    }
    await page.goto(`${address}/settings`)
    await page.getByText('The agents of this console read the exporters.').waitFor({ timeout: SHOW_LIMIT_MS })
    await takePicture(t, page, 'settings-of-nodes')
    await page.getByRole('main').getByRole('link', { name: 'Troubleshooting' }).first().click()
    const hop = (name: string) => page.getByRole('region', { name })
    await hop('Agents').getByText('2 of 3 agents answer.').waitFor({ timeout: SHOW_LIMIT_MS })
    await hop('Exporter').getByText('Off on 2 of 3 nodes, not known of 1.').waitFor()
    await assertSound(page)
    await takePicture(t, page, 'troubleshooting-of-nodes')
    await hop('Exporter').getByRole('link', { name: 'gpu18' }).click()
    await page.getByText('No hop is broken.').waitFor({ timeout: SHOW_LIMIT_MS })
    await page.getByRole('link', { name: 'Settings' }).click()
    await page
      .getByText('Only gpu18 itself can switch this.')
      .or(page.getByText('There is no exporter to read.'))
      .waitFor()
    await page.goto(`${address}/nodes`)
    await page.setViewportSize(SCREENS.desk)
    await nodes.getByRole('link', { name: 'gpu18' }).click()
    await page.getByRole('link', { name: 'GPUs' }).click()
    await page.getByText('All 8 GPUs are in range.').waitFor({ timeout: SHOW_LIMIT_MS })
    // The address keeps its node through every change of the page.
    await page.getByRole('button', { name: '30 min' }).click()
    assert.match(page.url(), /\/nodes\/gpu18\/gpus\?range=30m$/)
    await page.getByText('behind', { exact: false }).first().waitFor({ timeout: SHOW_LIMIT_MS })
    await page.getByRole('link', { name: 'Nodes' }).click()
    await page.getByText('1 of 3 nodes cannot be asked: gpu19.').waitFor({ timeout: SHOW_LIMIT_MS })
    await t.test('names that agents report stay texts, in the list and on the page of a node', async (t) => {
      const hostile = (nodes: NodesAnswer): NodesAnswer => ({
        ...nodes,
        nodes: nodes.nodes.map((node) => ({
          ...node,
          ...{ node: hostileName('node'), hardware: hostileName('hardware') },
          reason: node.reason === '' ? '' : hostileName('reason'),
          versions: node.versions.map((one) => ({ ...one, about: IMAGE, version: hostileName('version') })),
        })),
      })
      await page.route(
        ({ pathname }) => pathname === '/api/v1/nodes',
        async (route) => route.fulfill({ json: hostile((await (await route.fetch()).json()) as NodesAnswer) }),
      )
      await page.goto(`${address}/nodes`)
      await nodes.getByText('node<img').first().waitFor({ timeout: SHOW_LIMIT_MS })
      await assertTame(t, page, 'nodes')
      // The link has the name in the configuration, not the name that the agent reports.
      assert.equal(await nodes.getByRole('link', { name: 'gpu18' }).getAttribute('href'), '/nodes/gpu18')
      await page.unrouteAll({ behavior: 'ignoreErrors' })
      // The top bar of a node shows the name in the address, and the hardware that the agent reports.
      await page.route('**/api/v1/nodes/gpu18/node', async (route) => {
        const answer = (await (await route.fetch()).json()) as NodeAnswer
        const gpus = hostileName('gpus')
        await route.fulfill({ json: { ...answer, node: hostileName('node'), hardware: { ...answer.hardware, gpus } } })
      })
      await page.goto(`${address}/nodes/gpu18/gpus`)
      await page.locator('.place-hardware').getByText('gpus<img').waitFor({ timeout: SHOW_LIMIT_MS })
      await assertTame(t, page, 'node')
      await page.unrouteAll({ behavior: 'ignoreErrors' })
    })
    await page.goto(`${address}/nodes/gpu19`)
    await page
      .getByText('gpu19 cannot be asked: 127.0.0.1:1 refuses the connection')
      .first()
      .waitFor({ timeout: SHOW_LIMIT_MS })
    assert.deepEqual(faults, [])
  },
)
