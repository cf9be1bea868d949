import assert from 'node:assert/strict'
import { test } from 'node:test'
import { needs } from '../debian.ts'
import { assertSound } from './axe.ts'
import { SCREENS, takePicture, untilDrawn } from './browser.ts'
import { shareSimulatedStage } from './simulated.ts'

test(
  'the chain behind a number is drawn, and its first broken link says how to fix it',
  needs('chromium-headless-shell'),
  async (t) => {
    // The source rdma is left out of this configuration, which breaks its first link.
    const stage = await shareSimulatedStage(t)

    await t.test('the broken link stands in a box with a copy of how to fix it', async (t) => {
      await stage.visit('/explain?of=rdma', async (page) => {
        await untilDrawn(page)
        await page.getByText('The chain to rdma breaks at configuration').waitFor()
        const box = page.getByRole('region', { name: 'The broken link: configuration' })
        const fix = await box.locator('code').innerText()
        await box.getByRole('button', { name: 'Copy' }).click()
        await box.getByText('Copied').waitFor()
        assert.equal(await page.evaluate(() => navigator.clipboard.readText()), fix)
        assert.match(fix, /type: rdma/)
        assert.ok((await page.getByRole('region', { name: 'Table of links' }).locator('tbody tr').count()) > 1)
        await takePicture(t, page, 'explain-broken')
        await assertSound(page)
      })
    })

    await t.test('a chain that holds is quiet; one is asked for by name, and from the sources', async () => {
      await stage.visit('/sources', async (page) => {
        await untilDrawn(page)
        await page.getByRole('region', { name: 'Table of sources' }).getByRole('link', { name: 'netdev' }).click()
        await page.waitForURL(/\/sources\/netdev/)
        await page.getByRole('region', { name: 'Table of links' }).getByText('/proc/net/dev').first().waitFor()
      })
      await stage.visit('/explain', async (page) => {
        const sources = page.getByRole('region', { name: 'Table of sources to explain' })
        await sources.getByRole('link', { name: 'netdev' }).click()
        await page.waitForURL(/\/explain\?.*of=netdev/)
        await page.getByText('Every link from the configuration to netdev holds').waitFor()
        await page.getByRole('combobox', { name: 'Source, device, metric or rule' }).fill('host')
        await page.keyboard.press('Enter')
        await page.waitForURL(/of=host/)
        await page.getByRole('heading', { name: 'Explain host', level: 1 }).waitFor()
      })
    })

    await t.test('a name that nothing has is told, on a small screen too', async (t) => {
      await stage.visit(
        '/explain?of=mlx9_9',
        async (page) => {
          await page.getByText('mlx9_9 cannot be explained.').waitFor()
          await takePicture(t, page, 'explain-unknown-390')
          await assertSound(page)
        },
        { viewport: SCREENS.phone, colorScheme: 'dark', expected: /Failed to load resource.*404/ },
      )
    })
  },
)
