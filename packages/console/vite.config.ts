import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defaultClientConditions, defineConfig, type Plugin } from 'vite'

/** Every page needs the shared files: these load together with the frame, not after it. */
const preloadParts: Plugin = {
  name: 'preload-parts',
  transformIndexHtml: {
    order: 'post',
    handler(_html, { bundle = {} }) {
      const files = Object.keys(bundle).filter((name) => /\/parts-[^/]+\.js$/.test(name))
      const attrs = (name: string) => ({ rel: 'modulepreload', crossorigin: true, href: `/${name}` })
      return files.map((name) => ({ tag: 'link', attrs: attrs(name), injectTo: 'head' }))
    },
  },
}

/**
 * Builds the page into `dist/web`.
 *
 * Nothing is inlined and no script is injected, so that the page runs under a content security policy of `'self'`.
 * In development `SONDE_URL` names the server that answers `/api` (default `http://127.0.0.1:9394`).
 */
export default defineConfig({
  root: fileURLToPath(new URL('./web', import.meta.url)),
  plugins: [react(), preloadParts],
  // The page shares what answers mean with the server, from its sources.
  resolve: { conditions: ['source', ...defaultClientConditions] },
  build: {
    outDir: fileURLToPath(new URL('./dist/web', import.meta.url)),
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2023',
    // The frame comes first; what several pages share is one file, for each small module on its own would be a request
    // before the first drawing.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'frame', tags: ['$initial'], priority: 1 },
            { name: 'parts', minShareCount: 2 },
          ],
        },
      },
    },
  },
  server: {
    proxy: { '/api': process.env.SONDE_URL ?? 'http://127.0.0.1:9394' },
  },
})
