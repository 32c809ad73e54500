// Syncs an application as Argo CD's application controller does, with Argo CD's own engine: one
// operation, carried on from refresh to refresh until it ends.
//
//	argocd-sync --kubeconfig FILE --application NAME --namespace NAMESPACE --health FILE MANIFESTS
//
// The engine's agent keeps the live objects that it saw when the operation began, and so never sees
// a hook end. The controller makes a new context from the state of the last one at each refresh, as
// here. Prints the result as JSON; exit code 0 when the operation succeeded, 1 when it did not, 2
// when it could not be tried.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/argoproj/gitops-engine/pkg/cache"
	"github.com/argoproj/gitops-engine/pkg/health"
	engine "github.com/argoproj/gitops-engine/pkg/sync"
	"github.com/argoproj/gitops-engine/pkg/sync/common"
	"github.com/argoproj/gitops-engine/pkg/utils/kube"
	"github.com/argoproj/gitops-engine/pkg/utils/tracing"
	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	// As the controller's: by annotation, which is Argo CD's default.
	trackingAnnotation = "argocd.argoproj.io/tracking-id"
	refreshInterval    = 200 * time.Millisecond
	// Argo CD's client has 50; the engine's own default of 5 makes discovery take a minute.
	queriesPerSecond = 200
)

type application struct {
	name, namespace string
	config          *rest.Config
	kubectl         kube.Kubectl
	cache           cache.ClusterCache
	targets         []*unstructured.Unstructured
	health          health.HealthOverride
}

type row struct {
	Resource  string `json:"resource"`
	Status    string `json:"status"`
	SyncPhase string `json:"syncPhase"`
	Hook      string `json:"hook,omitempty"`
	HookPhase string `json:"hookPhase"`
	Message   string `json:"message"`
}

type result struct {
	Phase     string `json:"phase"`
	Message   string `json:"message"`
	Resources []row  `json:"resources"`
	Refreshes int    `json:"refreshes"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "argocd-sync:", err)
		os.Exit(2)
	}
}

func run() error {
	var app application
	kubeconfig := flag.String("kubeconfig", "", "the cluster and the user")
	patch := flag.String("health", "", "a patch of argocd-cm with health checks")
	timeout := flag.Duration("timeout", time.Minute, "how long the operation may take")
	flag.StringVar(&app.name, "application", "", "name of the application")
	flag.StringVar(&app.namespace, "namespace", "", "its destination")
	flag.Parse()
	if flag.NArg() != 1 || app.name == "" || app.namespace == "" {
		return errors.New("needs --application, --namespace and one file of manifests")
	}
	if err := app.read(*kubeconfig, *patch, flag.Arg(0)); err != nil {
		return err
	}
	app.cache = cache.NewClusterCache(app.config,
		cache.SetLogr(logr.Discard()), cache.SetPopulateResourceInfoHandler(tracked))
	if err := app.cache.EnsureSynced(); err != nil {
		return fmt.Errorf("listing the cluster: %w", err)
	}
	done, err := app.operate(*timeout)
	if err != nil {
		return err
	}
	if err := json.NewEncoder(os.Stdout).Encode(done); err != nil {
		return err
	}
	if done.Phase != string(common.OperationSucceeded) {
		os.Exit(1)
	}
	return nil
}

func (a *application) read(kubeconfig, patch, manifests string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	config.QPS, config.Burst = queriesPerSecond, 2*queriesPerSecond
	config.WarningHandler = rest.NoWarnings{}
	a.config = config
	a.kubectl = &kube.KubectlCmd{Log: logr.Discard(), Tracer: tracing.NopTracer{}}
	if a.health, err = readHealthChecks(patch); err != nil {
		return err
	}
	text, err := os.ReadFile(manifests)
	if err != nil {
		return err
	}
	if a.targets, err = kube.SplitYAML(text); err != nil {
		return err
	}
	for _, target := range a.targets {
		key := kube.GetResourceKey(target)
		annotations := target.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[trackingAnnotation] = fmt.Sprintf(
			"%s:%s/%s:%s/%s", a.name, key.Group, key.Kind, a.namespace, key.Name)
		target.SetAnnotations(annotations)
	}
	return nil
}

// tracked keeps the manifests of what applications have, as the controller's cache does.
func tracked(obj *unstructured.Unstructured, _ bool) (any, bool) {
	id := obj.GetAnnotations()[trackingAnnotation]
	return id, id != ""
}

func (a *application) owns(resource *cache.Resource) bool {
	id, _ := resource.Info.(string)
	return len(id) > len(a.name) && id[:len(a.name)+1] == a.name+":"
}

// operate runs the operation until it ends or the time is over; its phase is then still Running.
func (a *application) operate(timeout time.Duration) (result, error) {
	deadline := time.Now().Add(timeout)
	startedAt := metav1.Now()
	phase, message, resources := common.OperationRunning, "", []common.ResourceSyncResult(nil)
	for refresh := 1; ; refresh++ {
		var err error
		phase, message, resources, err = a.refresh(phase, message, resources, startedAt)
		if err != nil {
			return result{}, err
		}
		if phase.Completed() || time.Now().After(deadline) {
			return report(phase, message, resources, refresh), nil
		}
		time.Sleep(refreshInterval)
	}
}

// refresh compares anew and takes the operation one step on from the state of the last refresh.
func (a *application) refresh(
	phase common.OperationPhase, message string, resources []common.ResourceSyncResult,
	startedAt metav1.Time,
) (common.OperationPhase, string, []common.ResourceSyncResult, error) {
	targets := make([]*unstructured.Unstructured, len(a.targets))
	for i, target := range a.targets {
		targets[i] = target.DeepCopy()
	}
	live, err := a.cache.GetManagedLiveObjs(targets, a.owns)
	if err != nil {
		return "", "", nil, fmt.Errorf("reading the live objects: %w", err)
	}
	context, cleanup, err := engine.NewSyncContext("0123456789",
		engine.Reconcile(targets, live, a.namespace, a.cache), a.config, a.config, a.kubectl,
		a.namespace, a.cache.GetOpenAPISchema(),
		engine.WithLogr(logr.Discard()),
		engine.WithHealthOverride(a.health),
		engine.WithInitialState(phase, message, resources, startedAt),
		engine.WithManifestValidation(true),
		engine.WithOperationSettings(false, true, false, false))
	if err != nil {
		return "", "", nil, err
	}
	defer cleanup()
	context.Sync()
	phase, message, resources = context.GetState()
	return phase, message, resources, nil
}

func report(
	phase common.OperationPhase, message string, resources []common.ResourceSyncResult, refreshes int,
) result {
	done := result{Phase: string(phase), Message: message, Refreshes: refreshes}
	for _, resource := range resources {
		done.Resources = append(done.Resources, row{
			Resource:  resource.ResourceKey.String(),
			Status:    string(resource.Status),
			SyncPhase: string(resource.SyncPhase),
			Hook:      string(resource.HookType),
			HookPhase: string(resource.HookPhase),
			Message:   resource.Message,
		})
	}
	return done
}
