import { Route, Switch } from 'wouter'
import { Empty } from './components/empty.tsx'
import { PanelBoundary } from './components/error-boundary.tsx'
import { NodePage } from './pages/node/node-page.tsx'
import { Shell } from './shell/shell.tsx'

/** The page: its frame, and what stands in it. */
export function App() {
  return (
    <Shell>
      <PanelBoundary>
        <Switch>
          <Route path="/" component={NodePage} />
          <Route>
            <h1 className="page-title">No such page</h1>
            <Empty fact="Nothing is at this address.">The pages that exist are in the navigation.</Empty>
          </Route>
        </Switch>
      </PanelBoundary>
    </Shell>
  )
}
