import { type ComponentType, type FunctionComponent, useEffect } from 'react'
import { Outlines } from '../components/answer-state.tsx'
import { Empty } from '../components/empty.tsx'
import { PageHead } from '../components/page-head.tsx'
import { createStore, useStore } from '../state/store.ts'
import { usePageTitle } from './use-page-title.ts'

/** A page whose code comes when it is first shown, or before. */
export interface LazyPage<Props> extends FunctionComponent<Props> {
  /** Loads the code of the page where it is not there yet, and says whether it is now. Never throws. */
  readonly preload: () => Promise<boolean>
}

interface Loaded<Props> {
  readonly page?: ComponentType<Props>
  readonly error?: Error
}

/**
 * Makes a page of which only the address is known at first. Code that is there is drawn at once: `React.lazy` shows its
 * placeholder for a third of a second whenever it shows it at all.
 */
export function lazyPage<Props extends object>(load: () => Promise<ComponentType<Props>>): LazyPage<Props> {
  const store = createStore<Loaded<Props>>({})
  let loading: Promise<boolean> | undefined
  const preload = (): Promise<boolean> => {
    if (loading) return loading
    // An error stays until there is something else to show: all pages are tried again when the browser is idle.
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

/** Stands where the code of a page did not come: the server is away, or a newer one has files of other names. */
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

/**
 * Browsers keep that a file could not be had. Where the server answers and the file still does not come, everything is
 * loaded anew.
 */
async function tryAgain(preload: () => Promise<boolean>): Promise<void> {
  if (await preload()) return
  const isServerThere = await fetch(location.href, { method: 'HEAD' }).then(
    ({ ok }) => ok,
    () => false,
  )
  if (isServerThere) location.reload()
}
