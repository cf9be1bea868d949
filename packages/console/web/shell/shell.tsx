import { type ReactNode, useState } from 'react'
import { useNode } from '../api/resources.ts'
import { Banner } from '../components/banner.tsx'
import { Rail } from './rail.tsx'
import { TopBar } from './top-bar.tsx'
import { useNotices } from './use-notices.ts'

/** The frame around every page. */
export function Shell({ children }: { readonly children: ReactNode }) {
  const { data: node } = useNode()
  const notices = useNotices()
  const [, setSearch] = useState(false)
  return (
    <div className={node?.simulated ? 'shell is-simulated' : 'shell'}>
      <a className="skip-link" href="#content">
        Skip to content
      </a>
      <Rail />
      <TopBar onSearch={() => setSearch(true)} />
      <main id="content" className="content" tabIndex={-1}>
        <Banner notices={notices} />
        {children}
      </main>
    </div>
  )
}
