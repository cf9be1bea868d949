import { type ComponentType, type FunctionComponent, useEffect } from 'react'
import { Outlines } from '../components/answer-state.tsx'
import { Empty } from '../components/empty.tsx'
import { PageHead } from '../components/page-head.tsx'
import { createValueStore, useStore } from '../state/value-store.ts'
import { usePageTitle } from './use-page-title.ts'

/** A page whose code loads when it is first shown, or earlier. */
export interface LazyPage<Props> extends FunctionComponent<Props> {
  /** Loads the code of the page if needed. Resolves to whether it is loaded. Never throws. */
  readonly preload: () => Promise<boolean>
}

interface Loaded<Props> {
  readonly page?: ComponentType<Props>
  readonly error?: Error
}

/**
 * Makes a page whose code loads on demand. Loaded code is drawn at once. `React.lazy` would show its placeholder for at
 * least a third of a second.
 */
export function lazyPage<Props extends object>(load: () => Promise<ComponentType<Props>>): LazyPage<Props> {
  const store = createValueStore<Loaded<Props>>({})
  let loading: Promise<boolean> | undefined
  const preload = (): Promise<boolean> => {
    if (loading) return loading
    // An error stays until there is another result to show. Idle browsers retry all pages.
    loading = load().then(
      (page) => {
        store.set({ page })
        return true
      },
      (error: Error) => {
        loading = undefined
        store.set({ error })
        return false
      },
    )
    return loading
  }
  function Page(props: Props) {
    const { page: Found, error } = useStore(store)
    useEffect(() => void preload(), [])
    if (Found) return <Found {...props} />
    return error ? (
      <NotLoaded error={error} preload={preload} />
    ) : (
      <Outlines panels={6} waitsFor="the script of this page" />
    )
  }
  return Object.assign(Page, { preload })
}

/** Shown if the code of a page did not load: the server is down, or a newer server has other file names. */
function NotLoaded({ error, preload }: { readonly error: Error; readonly preload: () => Promise<boolean> }) {
  usePageTitle('Not loaded')
  return (
    <>
      <PageHead title="Not loaded" />
      <Empty icon="critical" fact="The code of this page did not come.">
        {error.message.replace(/\.?$/, '.')}{' '}
        <button type="button" className="button" onClick={() => void tryAgain(preload)}>
          Try again
        </button>
      </Empty>
    </>
  )
}

/** Browsers remember a failed import. If the server answers and the file still fails, the whole page is reloaded. */
async function tryAgain(preload: () => Promise<boolean>): Promise<void> {
  if (await preload()) return
  const isServerThere = await fetch(location.href, { method: 'HEAD' }).then(
    ({ ok }) => ok,
    () => false,
  )
  if (isServerThere) location.reload()
}
