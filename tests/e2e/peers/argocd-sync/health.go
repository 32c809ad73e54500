package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/argoproj/gitops-engine/pkg/health"
	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// healthChecks are those of argocd-cm, by key; run by the Lua that Argo CD runs them by.
type healthChecks map[string]string

func readHealthChecks(path string) (healthChecks, error) {
	if path == "" {
		return nil, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	patch := struct {
		Data map[string]string `json:"data"`
	}{}
	if err := yaml.Unmarshal(text, &patch); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return patch.Data, nil
}

// GetResourceHealth implements health.HealthOverride.
func (c healthChecks) GetResourceHealth(obj *unstructured.Unstructured) (*health.HealthStatus, error) {
	kind := obj.GroupVersionKind()
	script, found := c["resource.customizations.health."+kind.Group+"_"+kind.Kind]
	if !found {
		return nil, nil
	}
	vm := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer vm.Close()
	lua.OpenBase(vm)
	vm.SetGlobal("obj", asLua(vm, obj.Object))
	if err := vm.DoString(script); err != nil {
		return nil, err
	}
	answer, isTable := vm.Get(-1).(*lua.LTable)
	if !isTable {
		return nil, fmt.Errorf("the health check of %s returns no table", kind.Kind)
	}
	return &health.HealthStatus{
		Status:  health.HealthStatusCode(lua.LVAsString(answer.RawGetString("status"))),
		Message: lua.LVAsString(answer.RawGetString("message")),
	}, nil
}

func asLua(vm *lua.LState, value any) lua.LValue {
	switch typed := value.(type) {
	case nil:
		return lua.LNil
	case bool:
		return lua.LBool(typed)
	case string:
		return lua.LString(typed)
	case int64:
		return lua.LNumber(typed)
	case float64:
		return lua.LNumber(typed)
	case json.Number:
		number, _ := typed.Float64()
		return lua.LNumber(number)
	case []any:
		table := vm.NewTable()
		for _, item := range typed {
			table.Append(asLua(vm, item))
		}
		return table
	case map[string]any:
		table := vm.NewTable()
		for key, item := range typed {
			table.RawSetString(key, asLua(vm, item))
		}
		return table
	}
	return lua.LString(fmt.Sprint(value))
}
